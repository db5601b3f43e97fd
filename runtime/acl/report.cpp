#include "runtime/acl/report.h"

#include <pthread.h>

#include <deque>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/acl/context.h"
#include "runtime/acl/error.h"

namespace npustream::acl {

class ReportQueue {
 public:
  void Post(Report report) {
    MutexLock lock(mutex_);
    reports_.push_back(std::move(report));
    arrived_.NotifyOne();
  }

  // Runs one report. False when none came within the time. timeout_ms −1: for ever.
  bool RunOne(int timeout_ms) {
    Report report;
    {
      Clock& clock = Clock::System();
      const int64_t deadline_ns = clock.NowNs() + int64_t{timeout_ms} * 1'000'000;
      MutexLock lock(mutex_);
      while (reports_.empty()) {
        if (timeout_ms < 0) {
          arrived_.Wait(lock);
        } else if (clock.NowNs() < deadline_ns) {
          clock.WaitUntil(arrived_, lock, deadline_ns);
        } else {
          return false;
        }
      }
      report = std::move(reports_.front());
      reports_.pop_front();
    }
    report();  // the program's code: no lock is held
    return true;
  }

  bool empty() const {
    MutexLock lock(mutex_);
    return reports_.empty();
  }

  int subscriptions = 0;  // guarded by the table's mutex

 private:
  mutable Mutex mutex_;
  CondVar arrived_;
  std::deque<Report> reports_ NPUSTREAM_GUARDED_BY(mutex_);
};

namespace {

struct Table {
  Mutex mutex;
  std::map<uint64_t, std::shared_ptr<ReportQueue>> queues NPUSTREAM_GUARDED_BY(mutex);  // by thread
  std::map<aclrtStream, std::shared_ptr<ReportSubscription>> streams NPUSTREAM_GUARDED_BY(mutex);
};

Table& TheTable() {
  static auto* table = new Table;  // NOLINT: kept until the process ends; threads may still wait in it at exit
  return *table;
}

std::shared_ptr<ReportQueue> Subscribe(uint64_t thread_id) {
  MutexLock lock(TheTable().mutex);
  auto& queue = TheTable().queues[thread_id];
  if (queue == nullptr) queue = std::make_shared<ReportQueue>();
  ++queue->subscriptions;
  return queue;
}

// The thread's queue as long as something may come out of it.
std::shared_ptr<ReportQueue> QueueOf(uint64_t thread_id) {
  MutexLock lock(TheTable().mutex);
  const auto found = TheTable().queues.find(thread_id);
  if (found == TheTable().queues.end()) return nullptr;
  if (found->second->subscriptions > 0 || !found->second->empty()) return found->second;
  TheTable().queues.erase(found);
  return nullptr;
}

}  // namespace

ReportSubscription::ReportSubscription(uint64_t thread_id) : thread_id_(thread_id), queue_(Subscribe(thread_id)) {}

ReportSubscription::~ReportSubscription() {
  MutexLock lock(TheTable().mutex);
  --queue_->subscriptions;
}

void ReportSubscription::Post(Report report) const { queue_->Post(std::move(report)); }

std::shared_ptr<ReportSubscription> SubscriptionOf(aclrtStream stream) {
  MutexLock lock(TheTable().mutex);
  const auto found = TheTable().streams.find(stream);
  return found == TheTable().streams.end() ? nullptr : found->second;
}

void UnsubscribeStream(aclrtStream stream) {
  std::shared_ptr<ReportSubscription> ended;  // its destructor takes the lock
  MutexLock lock(TheTable().mutex);
  const auto found = TheTable().streams.find(stream);
  if (found == TheTable().streams.end()) return;
  ended = std::move(found->second);
  TheTable().streams.erase(found);
  lock.Unlock();
}

}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::Status;
using npustream::device::Engine;
using npustream::device::TaskToken;

namespace {

// Callbacks of the default stream are kept under the context's handle: the stream itself has none.
aclrtStream KeyOf(aclrtStream handle, const StreamObject& stream) {
  return handle != nullptr ? handle : stream.context;
}

}  // namespace

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  auto subscription = std::make_shared<ReportSubscription>(threadId);
  npustream::MutexLock lock(TheTable().mutex);
  auto& entry = TheTable().streams[KeyOf(stream, *found)];
  if (entry != nullptr) {
    const uint64_t other = entry->thread_id();
    lock.Unlock();
    return Fail(ACL_ERROR_REPEAT_SUBSCRIBE, "the stream's callbacks go to thread {} already", other);
  }
  entry = std::move(subscription);
  return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  const auto subscription = SubscriptionOf(KeyOf(stream, *found));
  if (subscription == nullptr) return Fail(ACL_ERROR_STREAM_NOT_SUBSCRIBE, "the stream is not subscribed");
  if (subscription->thread_id() != threadId) {
    return Fail(ACL_ERROR_THREAD_NOT_SUBSCRIBE, "the stream's callbacks go to thread {}, not {}",
                subscription->thread_id(), threadId);
  }
  UnsubscribeStream(KeyOf(stream, *found));
  return ACL_SUCCESS;
}

aclError aclrtProcessReport(int32_t timeout) {
  if (timeout == 0 || timeout < -1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} ms is no timeout for reports", timeout);
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  const auto thread_id = static_cast<uint64_t>(pthread_self());
  const auto queue = QueueOf(thread_id);
  if (queue == nullptr) return Fail(ACL_ERROR_THREAD_NOT_SUBSCRIBE, "no stream reports to this thread ({})", thread_id);
  if (!queue->RunOne(timeout)) return Fail(ACL_ERROR_WAIT_CALLBACK_TIMEOUT, "no report came within {} ms", timeout);
  return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  if (fn == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback was given no function");
  if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{} is no block type", static_cast<int>(blockType));
  }
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  auto subscription = SubscriptionOf(KeyOf(stream, *found));
  if (subscription == nullptr) {
    return Fail(ACL_ERROR_STREAM_NOT_SUBSCRIBE, "no thread is subscribed to the stream's callbacks");
  }
  // The task holds the subscription, so that the callback is delivered even if the stream is unsubscribed meanwhile.
  const Status status =
      blockType == ACL_CALLBACK_BLOCK
          ? found->stream->SubmitDeferred(Engine::kHost,
                                          [fn, userData, subscription = std::move(subscription)](TaskToken token) {
                                            subscription->Post([fn, userData, token] {
                                              fn(userData);
                                              token.Complete(Status());
                                            });
                                          })
          : found->stream->Submit(Engine::kHost, [fn, userData, subscription = std::move(subscription)] {
              subscription->Post([fn, userData] { fn(userData); });
              return Status();
            });
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  if (fn == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc was given no function");
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  const Status status = found->stream->Submit(Engine::kHost, [fn, args] {
    fn(args);
    return Status();
  });
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}
