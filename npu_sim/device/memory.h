#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace npustream::device {

// Which pages a block may use, as aclrtMemMallocPolicy distinguishes them.
enum class PagePolicy { kHugeFirst, kHugeOnly, kNormalOnly };

struct MemoryInfo {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};

// Whether the host may dereference the addresses that a memory hands out.
enum class HostAccess {
  kForbidden,  // device memory of a card
  kAllowed,    // device memory of a board, pinned host memory
};

// The memory of one simulated device. Addresses it hands out lie in a reserved range without access: a host that
// dereferences one faults, as it would with a real card. The pages behind them lie at a constant offset, and only
// npu_sim and dvpp may ask for it. Thread-safe.
class Memory {
 public:
  // Reserves address space of up to `capacity_bytes`; less when the system does not give that much. Pages are taken
  // from the system when they are first touched. kResourceExhausted when there is no address space at all.
  static Result<std::unique_ptr<Memory>> Create(size_t capacity_bytes, HostAccess access);

  virtual ~Memory() = default;

  // A block of at least `bytes` (> 0), 64-byte aligned, contents undefined. Above 1 MiB it lies at a multiple of
  // 2 MiB and takes whole granules of that size, unless the policy says otherwise; kHugeFirst takes normal pages when
  // there is no granule left. kResourceExhausted when it does not fit.
  virtual Result<void*> Allocate(size_t bytes, PagePolicy policy) = 0;
  // `address` must be the start of a live block, else kInvalidArgument.
  virtual Status Free(void* address) = 0;

  // True when `address` points into the reserved range.
  virtual bool Contains(const void* address) const = 0;
  // The host's view of [address, address + bytes), which must lie inside one live block, else kInvalidArgument.
  virtual Result<std::byte*> Translate(const void* address, size_t bytes) const = 0;
  // The device address of a pointer that Translate gave.
  virtual void* ToDevice(const std::byte* host) const = 0;

  virtual MemoryInfo Info() const = 0;
};

}  // namespace npustream::device
