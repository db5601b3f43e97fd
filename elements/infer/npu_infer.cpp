#include "elements/infer/npu_infer.h"

#include <vector>

namespace npustream::elements {
namespace {

constexpr size_t kItemsPerRequest = 8;

}  // namespace

struct OrderedResults::Shared {
  mutable Mutex mutex;
  CondVar changed;
  std::deque<std::shared_ptr<Slot>> slots NPUSTREAM_GUARDED_BY(mutex);
  size_t in_flight NPUSTREAM_GUARDED_BY(mutex) = 0;  // slots with a request that are still in the queue
  bool stopped NPUSTREAM_GUARDED_BY(mutex) = false;

  void Complete(Slot& slot, serving::InferenceResponse response) {
    MutexLock lock(mutex);
    slot.item.response = std::move(response);
    slot.done = true;
    changed.NotifyAll();
  }

  void Withdraw(const std::shared_ptr<Slot>& slot) {
    MutexLock lock(mutex);
    if (std::erase(slots, slot) > 0) --in_flight;
    changed.NotifyAll();
  }
};

OrderedResults::OrderedResults(size_t max_in_flight)
    : max_in_flight_(max_in_flight), shared_(std::make_shared<Shared>()) {}

OrderedResults::Outcome OrderedResults::Add(Payload& payload, bool urgent) {
  MutexLock lock(shared_->mutex);
  while (!shared_->stopped && !urgent && shared_->slots.size() >= max_in_flight_ * kItemsPerRequest) {
    shared_->changed.Wait(lock);
  }
  if (shared_->stopped) return Outcome::kStopped;
  auto slot = std::make_shared<Slot>();
  slot->item.payload = std::move(payload);
  slot->done = true;
  shared_->slots.push_back(std::move(slot));
  shared_->changed.NotifyAll();
  return Outcome::kAccepted;
}

OrderedResults::Outcome OrderedResults::Submit(Payload& payload, serving::ModelRunner& runner,
                                               serving::InferenceRequest request, Wait wait, Status& status) {
  auto slot = std::make_shared<Slot>();
  {
    MutexLock lock(shared_->mutex);
    while (!shared_->stopped && shared_->in_flight >= max_in_flight_) {
      if (wait == Wait::kNo) return Outcome::kFull;
      shared_->changed.Wait(lock);
    }
    if (shared_->stopped) return Outcome::kStopped;
    slot->item.payload = std::move(payload);
    slot->requested = true;
    shared_->slots.push_back(slot);
    ++shared_->in_flight;
  }
  request.done = [shared = shared_, slot](serving::InferenceResponse response) {
    shared->Complete(*slot, std::move(response));
  };
  status = runner.Submit(std::move(request));
  if (!status.ok()) shared_->Withdraw(slot);
  return Outcome::kAccepted;
}

std::optional<OrderedResults::Item> OrderedResults::Take() {
  MutexLock lock(shared_->mutex);
  while (!shared_->stopped && (shared_->slots.empty() || !shared_->slots.front()->done)) shared_->changed.Wait(lock);
  if (shared_->stopped) return std::nullopt;
  const std::shared_ptr<Slot> slot = std::move(shared_->slots.front());
  shared_->slots.pop_front();
  if (slot->requested) --shared_->in_flight;
  shared_->changed.NotifyAll();
  return std::move(slot->item);
}

void OrderedResults::Stop() {
  // Payloads are released here and outside the lock. A slot may live on in a runner's request; if its payload did too,
  // the runner's own thread could be the one to drop the last reference to the runner.
  std::vector<Payload> dropped;
  MutexLock lock(shared_->mutex);
  shared_->stopped = true;
  for (const std::shared_ptr<Slot>& slot : shared_->slots) dropped.push_back(std::move(slot->item.payload));
  shared_->slots.clear();
  shared_->in_flight = 0;
  shared_->changed.NotifyAll();
  lock.Unlock();
}

void OrderedResults::Start() {
  MutexLock lock(shared_->mutex);
  shared_->stopped = false;
}

void OrderedResults::WaitEmpty() {
  MutexLock lock(shared_->mutex);
  while (!shared_->stopped && !shared_->slots.empty()) shared_->changed.Wait(lock);
}

size_t OrderedResults::in_flight() const {
  MutexLock lock(shared_->mutex);
  return shared_->in_flight;
}

}  // namespace npustream::elements
