#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "base/status.h"
#include "base/unique_handle.h"

namespace npustream::program {

// A block of memory of our own, 64-byte aligned, contents zero.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  static Result<AlignedMemory> Allocate(size_t bytes);
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  UniqueHandle<std::byte, std::free> block_;
  std::byte* data_ = nullptr;  // in the block
  size_t size_ = 0;
};

}  // namespace npustream::program
