#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace npustream {

// What a full queue does with a newcomer.
enum class WhenFull { kBlock, kDropOldest, kFail };

// A FIFO between threads with a fixed bound; its storage is allocated once. After Close() pushes fail and pops drain
// what is left.
template <typename T>
class BoundedQueue {
 public:
  struct PushOutcome {
    bool accepted = false;
    std::optional<T> displaced;  // the oldest item, given back by kDropOldest; the newcomer itself if not accepted
  };

  explicit BoundedQueue(size_t capacity, WhenFull when_full = WhenFull::kBlock)
      : slots_(capacity), when_full_(when_full) {
    assert(capacity > 0);
  }

  PushOutcome Push(T item) {
    MutexLock lock(mutex_);
    while (!closed_ && size_ == slots_.size() && when_full_ == WhenFull::kBlock) not_full_.Wait(lock);
    if (closed_ || (size_ == slots_.size() && when_full_ == WhenFull::kFail)) return {false, std::move(item)};
    PushOutcome outcome{true, std::nullopt};
    if (size_ == slots_.size()) outcome.displaced = TakeFront();
    slots_[(head_ + size_) % slots_.size()] = std::move(item);
    ++size_;
    not_empty_.NotifyOne();
    return outcome;
  }

  // Waits for an item; nothing once the queue is closed and empty.
  std::optional<T> Pop() {
    MutexLock lock(mutex_);
    while (size_ == 0 && !closed_) not_empty_.Wait(lock);
    if (size_ == 0) return std::nullopt;
    return TakeFront();
  }

  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
  }

  size_t size() const {
    MutexLock lock(mutex_);
    return size_;
  }
  size_t capacity() const { return slots_.size(); }

 private:
  T TakeFront() NPUSTREAM_REQUIRES(mutex_) {
    T item = std::move(*slots_[head_]);
    slots_[head_].reset();
    head_ = (head_ + 1) % slots_.size();
    --size_;
    not_full_.NotifyOne();
    return item;
  }

  mutable Mutex mutex_;
  CondVar not_empty_;
  CondVar not_full_;
  std::vector<std::optional<T>> slots_ NPUSTREAM_GUARDED_BY(mutex_);
  size_t head_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  size_t size_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  bool closed_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  const WhenFull when_full_;
};

}  // namespace npustream
