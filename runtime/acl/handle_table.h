#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace npustream::acl {

// What a handle stands for; its top byte, so that a handle of one kind is never taken for one of another.
enum class HandleKind : uint8_t {
  kContext = 0xa1,
  kStream,
  kEvent,
  kDataBuffer,
  kDataset,
  kModelDescription,
  kTensorDescription,
  kFirstOfDvpp = 0xc1,  // kinds from here on are dvpp's
};

// The live objects of one kind and the opaque handles under which a C program knows them. A handle is a number, never
// an address, and no number is given twice: a handle whose object is gone, or which never was one, is told apart from
// a live one without being touched. Finding an object takes O(1) and allocates nothing. Thread-safe.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(HandleKind kind) : kind_(kind) {}

  void* Add(std::shared_ptr<T> object) {
    MutexLock lock(mutex_);
    uint32_t index = 0;
    if (unused_.empty()) {
      index = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = unused_.back();
      unused_.pop_back();
    }
    slots_[index].object = std::move(object);
    return ToHandle(index, slots_[index].generation);
  }

  // Null for a handle that is not live. Shared, so that an object outlives a concurrent Remove while it is in use.
  std::shared_ptr<T> Find(const void* handle) const {
    MutexLock lock(mutex_);
    const Slot* slot = SlotOf(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  // Takes the object out; null for a handle that is not live.
  std::shared_ptr<T> Remove(const void* handle) {
    MutexLock lock(mutex_);
    Slot* slot = const_cast<Slot*>(SlotOf(handle));
    if (slot == nullptr) return nullptr;
    slot->generation = (slot->generation + 1) & kGenerationMask;
    unused_.push_back(static_cast<uint32_t>(slot - slots_.data()));
    return std::exchange(slot->object, nullptr);
  }

 private:
  // Bits of a handle: kind (8), generation of the slot (24), index of the slot (32).
  static constexpr uint32_t kGenerationMask = 0xffffff;

  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 0;
  };

  void* ToHandle(uint32_t index, uint32_t generation) const {
    return reinterpret_cast<void*>(uint64_t{static_cast<uint8_t>(kind_)} << 56 | uint64_t{generation} << 32 | index);
  }

  const Slot* SlotOf(const void* handle) const NPUSTREAM_REQUIRES(mutex_) {
    const auto bits = reinterpret_cast<uint64_t>(handle);
    const auto index = static_cast<uint32_t>(bits);
    if (bits >> 56 != static_cast<uint8_t>(kind_) || index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.object != nullptr && slot.generation == (bits >> 32 & kGenerationMask) ? &slot : nullptr;
  }

  const HandleKind kind_;
  mutable Mutex mutex_;
  std::vector<Slot> slots_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<uint32_t> unused_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace npustream::acl
