#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace npustream::device {

// Divides the offsets 0 … capacity into blocks. Best fit, neighbours that become free are joined, every operation
// takes O(log n) of the number of blocks. Not thread-safe.
class BlockAllocator {
 public:
  struct Block {
    size_t offset = 0;
    size_t size = 0;
  };

  // `capacity` must be a multiple of kAlignment.
  explicit BlockAllocator(size_t capacity);

  // `bytes` > 0 rounded up to `alignment` (a power of two, at least kAlignment), at a multiple of `alignment`. Blocks
  // of the smallest alignment are taken from the low end of free space and others from the high end, so that small
  // blocks do not spoil large granules. Nothing when no gap is large enough.
  std::optional<Block> Allocate(size_t bytes, size_t alignment);
  // False when no live block starts at `offset`.
  bool Free(size_t offset);
  // The live block that `offset` lies in.
  std::optional<Block> Find(size_t offset) const;

  size_t capacity() const { return capacity_; }
  size_t used_bytes() const { return used_bytes_; }

  static constexpr size_t kAlignment = 64;

 private:
  struct Extent {
    size_t size = 0;
    bool live = false;
  };
  using Extents = std::map<size_t, Extent>;

  std::optional<Block> Place(const Block& gap, size_t size, size_t alignment) const;
  std::optional<std::pair<Block, Block>> FindGap(size_t size, size_t alignment) const;
  void AddGap(size_t offset, size_t size);

  const size_t capacity_;
  size_t used_bytes_ = 0;
  Extents extents_;                           // all of the range, by offset, without holes
  std::set<std::pair<size_t, size_t>> gaps_;  // free extents as (size, offset)
};

}  // namespace npustream::device
