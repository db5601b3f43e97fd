#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace npustream {

// A FIFO between threads with a fixed bound; its storage is allocated once. After Close() pushes fail and pops drain
// what is left.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : slots_(capacity) { assert(capacity > 0); }

  // Waits for room. False, without the item, once the queue is closed.
  bool Push(T item) {
    MutexLock lock(mutex_);
    while (!closed_ && size_ == slots_.size()) not_full_.Wait(lock);
    if (closed_) return false;
    slots_[(head_ + size_) % slots_.size()] = std::move(item);
    ++size_;
    not_empty_.NotifyOne();
    return true;
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
};

}  // namespace npustream
