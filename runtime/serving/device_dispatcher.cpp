#include "runtime/serving/device_dispatcher.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/serving/acl_session.h"

namespace npustream::serving {

std::shared_ptr<DeviceDispatcher> DeviceDispatcher::OfDevice(int device_id, const SchedulerOptions& options,
                                                             Clock& clock) {
  // By clock as well, since what a test does with its clock is no other model's business.
  static Mutex& mutex = *new Mutex;
  static auto& dispatchers = *new std::map<std::pair<int, Clock*>, std::weak_ptr<DeviceDispatcher>>;
  MutexLock lock(mutex);
  std::erase_if(dispatchers, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<DeviceDispatcher>& known = dispatchers[{device_id, &clock}];
  std::shared_ptr<DeviceDispatcher> dispatcher = known.lock();
  if (dispatcher == nullptr) {
    known = dispatcher = std::make_shared<DeviceDispatcher>(options, AiCoreCount(device_id), clock);
  }
  return dispatcher;
}

DeviceDispatcher::DeviceDispatcher(const SchedulerOptions& options, size_t cores, Clock& clock)
    : clock_(clock), scheduler_(options, cores, clock), thread_([this] { Run(); }) {}

DeviceDispatcher::~DeviceDispatcher() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    work_.NotifyAll();
  }
  thread_.join();
}

void DeviceDispatcher::Add(Client& client, Batcher& batcher, double weight) {
  MutexLock lock(mutex_);
  entries_.push_back({&client, &batcher});
  scheduler_.Add(batcher, weight);
}

void DeviceDispatcher::Remove(Client& client) {
  MutexLock lock(mutex_);
  while (launching_ == &client) launched_.Wait(lock);
  for (const Entry& entry : entries_) {
    if (entry.client == &client) scheduler_.Remove(*entry.batcher);
  }
  std::erase_if(entries_, [&](const Entry& entry) { return entry.client == &client; });
}

void DeviceDispatcher::Run() {
  MutexLock lock(mutex_);
  while (!closing_) {
    if (AnswerExpired(lock) || LaunchNext(lock)) continue;
    if (const auto wake_at_ns = scheduler_.WakeAtNs()) {
      clock_.WaitUntil(work_, lock, *wake_at_ns);
    } else {
      work_.Wait(lock);
    }
  }
}

bool DeviceDispatcher::AnswerExpired(MutexLock& lock) {
  std::vector<PendingRequest> expired;
  for (const Entry& entry : entries_) {
    for (PendingRequest& pending : entry.client->TakeExpired()) expired.push_back(std::move(pending));
  }
  if (expired.empty()) return false;
  lock.Unlock();
  RefuseAll(expired, Status(StatusCode::kTimeout, "the request's deadline passed before it could run"),
            DropReason::kDeadline);
  expired.clear();  // what the requests held goes without the lock too
  lock.Lock();
  return true;
}

bool DeviceDispatcher::LaunchNext(MutexLock& lock) {
  Batcher* batcher = scheduler_.Choose();
  if (batcher == nullptr) return false;
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& candidate) { return candidate.batcher == batcher; });
  Client& client = *entry->client;
  batcher->Take(client.TakeSlot());
  launching_ = &client;
  lock.Unlock();
  client.Launch();
  lock.Lock();
  launching_ = nullptr;
  launched_.NotifyAll();
  return true;
}

}  // namespace npustream::serving
