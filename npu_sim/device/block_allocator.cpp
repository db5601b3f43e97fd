#include "npu_sim/device/block_allocator.h"

#include <cassert>
#include <iterator>

namespace npustream::device {

BlockAllocator::BlockAllocator(size_t capacity) : capacity_(capacity) {
  assert(capacity > 0 && capacity % kAlignment == 0);
  AddGap(0, capacity);
}

std::optional<BlockAllocator::Block> BlockAllocator::Allocate(size_t bytes, size_t alignment) {
  assert(bytes > 0 && alignment >= kAlignment && (alignment & (alignment - 1)) == 0);
  if (bytes > capacity_) return std::nullopt;
  const size_t size = (bytes + alignment - 1) / alignment * alignment;
  const auto found = FindGap(size, alignment);
  if (!found) return std::nullopt;

  const auto& [gap, block] = *found;
  gaps_.erase({gap.size, gap.offset});
  extents_.erase(gap.offset);
  if (block.offset > gap.offset) AddGap(gap.offset, block.offset - gap.offset);
  extents_[block.offset] = {block.size, true};
  const size_t block_end = block.offset + block.size;
  const size_t gap_end = gap.offset + gap.size;
  if (block_end < gap_end) AddGap(block_end, gap_end - block_end);
  used_bytes_ += block.size;
  return block;
}

bool BlockAllocator::Free(size_t offset) {
  auto extent = extents_.find(offset);
  if (extent == extents_.end() || !extent->second.live) return false;
  used_bytes_ -= extent->second.size;
  size_t begin = offset;
  size_t end = offset + extent->second.size;

  const auto next = std::next(extent);
  if (next != extents_.end() && !next->second.live) {
    end += next->second.size;
    gaps_.erase({next->second.size, next->first});
    extents_.erase(next);
  }
  if (extent != extents_.begin()) {
    const auto previous = std::prev(extent);
    if (!previous->second.live) {
      begin = previous->first;
      gaps_.erase({previous->second.size, previous->first});
      extents_.erase(previous);
    }
  }
  extents_.erase(extent);
  AddGap(begin, end - begin);
  return true;
}

std::optional<BlockAllocator::Block> BlockAllocator::Find(size_t offset) const {
  auto extent = extents_.upper_bound(offset);
  if (offset >= capacity_ || extent == extents_.begin()) return std::nullopt;
  --extent;
  if (!extent->second.live) return std::nullopt;
  return Block{extent->first, extent->second.size};
}

// Where in `gap` an aligned block of `size` would lie.
std::optional<BlockAllocator::Block> BlockAllocator::Place(const Block& gap, size_t size, size_t alignment) const {
  if (gap.size < size) return std::nullopt;
  if (alignment == kAlignment) return Block{gap.offset, size};
  const size_t offset = (gap.offset + gap.size - size) / alignment * alignment;
  if (offset < gap.offset) return std::nullopt;
  return Block{offset, size};
}

// The gap to cut from and the block in it. The tightest gap may miss the alignment; one that is larger by an alignment
// never does.
std::optional<std::pair<BlockAllocator::Block, BlockAllocator::Block>> BlockAllocator::FindGap(size_t size,
                                                                                               size_t alignment) const {
  for (const size_t least : {size, size + alignment - kAlignment}) {
    const auto candidate = gaps_.lower_bound({least, 0});
    if (candidate == gaps_.end()) return std::nullopt;
    const Block gap{candidate->second, candidate->first};
    if (const auto block = Place(gap, size, alignment)) return std::pair{gap, *block};
  }
  return std::nullopt;
}

void BlockAllocator::AddGap(size_t offset, size_t size) {
  extents_[offset] = {size, false};
  gaps_.insert({size, offset});
}

}  // namespace npustream::device
