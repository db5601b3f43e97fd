#include "npu_sim/device/block_allocator.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace npustream::device {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(BlockAllocator, RoundsSizesUpToTheAlignment) {
  BlockAllocator blocks(64 * 16);
  const auto first = blocks.Allocate(1, 64);
  const auto second = blocks.Allocate(65, 64);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size, 64u);
  EXPECT_EQ(second->offset, 64u);
  EXPECT_EQ(second->size, 128u);
  EXPECT_EQ(blocks.used_bytes(), 192u);
}

TEST(BlockAllocator, NeighboursThatBecomeFreeAreJoined) {
  BlockAllocator blocks(64 * 4);
  size_t offsets[4];
  for (size_t& offset : offsets) offset = blocks.Allocate(64, 64)->offset;
  for (const size_t index : {0, 2, 1, 3}) EXPECT_TRUE(blocks.Free(offsets[index]));
  const auto whole = blocks.Allocate(64 * 4, 64);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->offset, 0u);
}

TEST(BlockAllocator, LargeGranulesAreAlignedAndKeepAwayFromSmallBlocks) {
  BlockAllocator blocks(8 * kMiB);
  const auto small = blocks.Allocate(64, 64);
  const auto large = blocks.Allocate(kMiB + 1, 2 * kMiB);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(large->offset % (2 * kMiB), 0u);
  EXPECT_EQ(large->size, 2 * kMiB);
  EXPECT_EQ(small->offset, 0u);
  EXPECT_EQ(large->offset, 6 * kMiB);
}

TEST(BlockAllocator, FreeRefusesWhatIsNotTheStartOfALiveBlock) {
  BlockAllocator blocks(64 * 4);
  const auto block = blocks.Allocate(128, 64);
  EXPECT_FALSE(blocks.Free(block->offset + 64));
  EXPECT_TRUE(blocks.Free(block->offset));
  EXPECT_FALSE(blocks.Free(block->offset));
  EXPECT_FALSE(blocks.Free(64 * 100));
}

TEST(BlockAllocator, FindsTheLiveBlockAroundAnOffset) {
  BlockAllocator blocks(64 * 4);
  blocks.Allocate(64, 64);
  const auto block = blocks.Allocate(128, 64);
  EXPECT_EQ(blocks.Find(block->offset + 127)->offset, 64u);
  EXPECT_FALSE(blocks.Find(64 * 3));
  EXPECT_FALSE(blocks.Find(64 * 4));
}

TEST(BlockAllocator, AThousandRandomStepsNeverOverlapAndGiveEverythingBack) {
  BlockAllocator blocks(64 * kMiB);
  std::mt19937 random(7);
  std::map<size_t, size_t> live;
  for (int step = 0; step < 1000; ++step) {
    if (!live.empty() && random() % 3 == 0) {
      auto victim = std::next(live.begin(), random() % live.size());
      ASSERT_TRUE(blocks.Free(victim->first));
      live.erase(victim);
      continue;
    }
    const bool large = random() % 8 == 0;
    const auto block = blocks.Allocate(1 + random() % (large ? 5 * kMiB : 9000), large ? 2 * kMiB : 64);
    if (!block) continue;
    const auto next = live.upper_bound(block->offset);
    if (next != live.end()) {
      ASSERT_LE(block->offset + block->size, next->first);
    }
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, block->offset);
    }
    live[block->offset] = block->size;
  }
  for (const auto& [offset, size] : live) ASSERT_TRUE(blocks.Free(offset));
  EXPECT_EQ(blocks.used_bytes(), 0u);
  EXPECT_TRUE(blocks.Allocate(64 * kMiB, 64));
}

}  // namespace
}  // namespace npustream::device
