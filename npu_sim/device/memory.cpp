#include "npu_sim/device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/mutex.h"
#include "npu_sim/device/block_allocator.h"

namespace npustream::device {
namespace {

constexpr size_t kGranule = size_t{2} << 20;
constexpr size_t kLargestNormal = size_t{1} << 20;
constexpr size_t kSmallestRange = size_t{64} << 20;

// Address space that is given back at the end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* begin, size_t size) : begin_(begin), size_(size) {}
  Mapping(Mapping&& other) noexcept : begin_(std::exchange(other.begin_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping() {
    if (begin_ != nullptr) munmap(begin_, size_);
  }
  std::byte* begin() const { return begin_; }

 private:
  std::byte* begin_ = nullptr;
  size_t size_ = 0;
};

// Reserves `bytes` without access; null when the system refuses.
Mapping Reserve(size_t bytes) {
  void* begin = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return {};
  return {static_cast<std::byte*>(begin), bytes};
}

class MappedMemory : public Memory {
 public:
  // `mapping` holds [addresses | pages] when `offset` > 0, else both are one.
  MappedMemory(Mapping mapping, std::byte* base, size_t capacity, size_t offset)
      : mapping_(std::move(mapping)), base_(base), capacity_(capacity), offset_(offset), blocks_(capacity) {}

  Result<void*> Allocate(size_t bytes, PagePolicy policy) override {
    if (bytes == 0) return Status(StatusCode::kInvalidArgument, "a block of 0 bytes was asked for");
    MutexLock lock(mutex_);
    const bool granules =
        policy == PagePolicy::kHugeOnly || (policy == PagePolicy::kHugeFirst && bytes > kLargestNormal);
    auto block = blocks_.Allocate(bytes, granules ? kGranule : BlockAllocator::kAlignment);
    if (!block && policy == PagePolicy::kHugeFirst) block = blocks_.Allocate(bytes, BlockAllocator::kAlignment);
    if (!block) {
      return Status(
          StatusCode::kResourceExhausted,
          fmt::format("{} bytes were asked for, {} of {} bytes are free{}", bytes, capacity_ - blocks_.used_bytes(),
                      capacity_, bytes <= capacity_ - blocks_.used_bytes() ? " but not in one piece" : ""));
    }
    return static_cast<void*>(base_ + block->offset);
  }

  Status Free(void* address) override {
    MutexLock lock(mutex_);
    if (!Contains(address) || !blocks_.Free(OffsetOf(address))) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("{} is not the start of a live block; it was freed before or never allocated", address));
    }
    return {};
  }

  bool Contains(const void* address) const override {
    const auto* pointer = static_cast<const std::byte*>(address);
    return !std::less<>()(pointer, base_) && std::less<>()(pointer, base_ + capacity_);
  }

  Result<std::byte*> Translate(const void* address, size_t bytes) const override {
    if (!Contains(address)) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{} is not an address of this device", address));
    }
    const size_t offset = OffsetOf(address);
    MutexLock lock(mutex_);
    const auto block = blocks_.Find(offset);
    if (!block) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{} lies in no live block; it was freed", address));
    }
    const size_t room = block->offset + block->size - offset;
    if (bytes > room) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} bytes at {} reach beyond the block, which has {} left", bytes, address, room));
    }
    return base_ + offset_ + offset;
  }

  void* ToDevice(const std::byte* host) const override { return const_cast<std::byte*>(host) - offset_; }

  MemoryInfo Info() const override {
    MutexLock lock(mutex_);
    return {capacity_ - blocks_.used_bytes(), capacity_};
  }

 private:
  size_t OffsetOf(const void* address) const {
    return static_cast<size_t>(static_cast<const std::byte*>(address) - base_);
  }

  const Mapping mapping_;
  std::byte* const base_;  // first address that is handed out
  const size_t capacity_;
  const size_t offset_;  // from an address to its page
  mutable Mutex mutex_;
  BlockAllocator blocks_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<Memory>> Memory::Create(size_t capacity_bytes, HostAccess access) {
  const size_t views = access == HostAccess::kForbidden ? 2 : 1;
  size_t capacity = std::max(capacity_bytes / kGranule * kGranule, kGranule);
  Mapping mapping = Reserve(views * capacity + kGranule);
  while (mapping.begin() == nullptr && capacity > kSmallestRange) {
    capacity = capacity / 2 / kGranule * kGranule;
    mapping = Reserve(views * capacity + kGranule);
  }
  if (mapping.begin() == nullptr) {
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("no address space for device memory: {}", strerror(errno)));
  }
  const auto begin = reinterpret_cast<uintptr_t>(mapping.begin());
  std::byte* base = mapping.begin() + ((begin + kGranule - 1) / kGranule * kGranule - begin);
  const size_t offset = (views - 1) * capacity;
  std::byte* pages = base + offset;
  if (mprotect(pages, capacity, PROT_READ | PROT_WRITE) != 0) {
    return Status(StatusCode::kResourceExhausted, fmt::format("no pages for device memory: {}", strerror(errno)));
  }
  // Advice only: without huge pages everything works, a little slower.
  madvise(pages, capacity, MADV_HUGEPAGE);
  madvise(pages, capacity, MADV_DONTDUMP);
  return std::unique_ptr<Memory>(std::make_unique<MappedMemory>(std::move(mapping), base, capacity, offset));
}

}  // namespace npustream::device
