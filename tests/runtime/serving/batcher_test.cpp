#include "runtime/serving/batcher.h"

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

constexpr int64_t kMs = 1'000'000;

InferenceRequest RequestOf(uint64_t source) {
  InferenceRequest request;
  request.source = source;
  return request;
}

class BatcherTest : public ::testing::Test {
 protected:
  Batcher Make(BatcherOptions options) { return Batcher(std::move(options), clock_); }

  static void Push(Batcher& batcher, int count) {
    for (int i = 0; i < count; ++i) batcher.Push(RequestOf(static_cast<uint64_t>(i)));
  }

  // Number of requests and gear of the next batch; {0, 0} when none leaves.
  static std::pair<size_t, int64_t> Take(Batcher& batcher) {
    Batch batch;
    if (!batcher.Take(batch)) return {0, 0};
    return {batch.requests.size(), batch.gear};
  }

  FakeClock clock_{1000};
};

using Taken = std::pair<size_t, int64_t>;

TEST_F(BatcherTest, NothingLeavesWhenNothingWaits) {
  Batcher batcher = Make({.gears = {1, 2, 4, 8}, .batch_size = 8});
  EXPECT_EQ(Take(batcher), Taken(0, 0));
  EXPECT_EQ(batcher.WakeAtNs(), std::nullopt);
}

TEST_F(BatcherTest, ARequestLeavesAtOnceWhileASlotIsFree) {
  Batcher batcher = Make({.gears = {1, 2, 4, 8}, .batch_size = 8, .depth = 2});
  Push(batcher, 1);
  EXPECT_EQ(Take(batcher), Taken(1, 1));
  Push(batcher, 1);
  EXPECT_EQ(Take(batcher), Taken(1, 1));
  EXPECT_EQ(batcher.in_flight(), 2);
}

TEST_F(BatcherTest, RequestsGatherWhileAllSlotsAreBusyAndLeaveTogether) {
  Batcher batcher = Make({.gears = {1, 2, 4, 8}, .batch_size = 8, .depth = 1});
  Push(batcher, 1);
  ASSERT_EQ(Take(batcher), Taken(1, 1));
  Push(batcher, 4);
  EXPECT_EQ(Take(batcher), Taken(0, 0));
  EXPECT_EQ(batcher.WakeAtNs(), std::nullopt) << "time alone changes nothing here";
  batcher.Finish(1);
  EXPECT_EQ(Take(batcher), Taken(4, 4));
}

TEST_F(BatcherTest, ABatchIsNeverLargerThanAsked) {
  Batcher batcher = Make({.gears = {1, 2, 4, 8}, .batch_size = 4, .depth = 9});
  Push(batcher, 10);
  EXPECT_EQ(Take(batcher), Taken(4, 4));
  EXPECT_EQ(Take(batcher), Taken(4, 4));
  EXPECT_EQ(Take(batcher), Taken(2, 2));
}

TEST_F(BatcherTest, OddNumbersAreCutIntoGearsRatherThanFilledUp) {
  Batcher batcher = Make({.gears = {1, 2, 4, 8}, .batch_size = 8, .depth = 9});
  Push(batcher, 7);
  EXPECT_EQ(Take(batcher), Taken(4, 4));
  EXPECT_EQ(Take(batcher), Taken(2, 2));
  EXPECT_EQ(Take(batcher), Taken(1, 1));
}

TEST_F(BatcherTest, FillsUpWhereThatIsCheaper) {
  // A device with idle cores: four images take hardly longer than one.
  Batcher batcher = Make({.gears = {1, 2, 4}, .batch_size = 4, .depth = 9, .gear_costs = {10, 11, 12}});
  Push(batcher, 3);
  EXPECT_EQ(Take(batcher), Taken(3, 4));
}

TEST_F(BatcherTest, AFixedBatchIsFilledUp) {
  Batcher batcher = Make({.gears = {4}, .batch_size = 4, .depth = 9});
  Push(batcher, 5);
  EXPECT_EQ(Take(batcher), Taken(4, 4));
  EXPECT_EQ(Take(batcher), Taken(1, 4));
}

TEST_F(BatcherTest, ATimeoutHoldsBackUntilTheOldestHasWaitedLongEnough) {
  Batcher batcher = Make({.gears = {1, 2, 4}, .batch_size = 4, .batch_timeout_ns = 5 * kMs});
  Push(batcher, 1);
  clock_.AdvanceNs(3 * kMs);
  Push(batcher, 1);
  EXPECT_EQ(Take(batcher), Taken(0, 0));
  EXPECT_EQ(batcher.WakeAtNs(), 1000 + 5 * kMs);
  clock_.AdvanceNs(2 * kMs - 1);
  EXPECT_EQ(Take(batcher), Taken(0, 0));
  clock_.AdvanceNs(1);
  EXPECT_EQ(Take(batcher), Taken(2, 2));
}

TEST_F(BatcherTest, AFullBatchDoesNotWaitForTheTimeout) {
  Batcher batcher = Make({.gears = {1, 2, 4}, .batch_size = 4, .batch_timeout_ns = 5 * kMs});
  Push(batcher, 4);
  EXPECT_EQ(Take(batcher), Taken(4, 4));
}

TEST_F(BatcherTest, SourcesTakeTurns) {
  Batcher batcher = Make({.gears = {1, 2, 4}, .batch_size = 4, .depth = 9});
  for (const uint64_t source : {7u, 7u, 3u, 7u, 5u}) batcher.Push(RequestOf(source));
  std::vector<uint64_t> order;
  Batch batch;
  while (batcher.Take(batch)) {
    for (const PendingRequest& pending : batch.requests) order.push_back(pending.request.source);
  }
  EXPECT_EQ(order, (std::vector<uint64_t>{7, 3, 5, 7, 7}));
}

TEST_F(BatcherTest, KnowsWhenItIsFull) {
  Batcher batcher = Make({.gears = {1}, .batch_size = 1, .queue_size = 2, .depth = 1});
  Push(batcher, 2);
  EXPECT_FALSE(batcher.HasRoom(0));
  ASSERT_EQ(Take(batcher), Taken(1, 1));
  EXPECT_TRUE(batcher.HasRoom(0));
}

TEST_F(BatcherTest, RemembersWhenARequestCame) {
  Batcher batcher = Make({.gears = {1}, .batch_size = 1});
  clock_.AdvanceNs(234);
  Push(batcher, 1);
  clock_.AdvanceNs(50);
  Batch batch;
  ASSERT_TRUE(batcher.Take(batch));
  EXPECT_EQ(batch.requests[0].submitted_ns, 1234);
}

TEST_F(BatcherTest, TakeAllEmptiesTheQueue) {
  Batcher batcher = Make({.gears = {1}, .batch_size = 1});
  Push(batcher, 3);
  EXPECT_EQ(batcher.TakeAll().size(), 3u);
  EXPECT_EQ(batcher.waiting(), 0u);
}

}  // namespace
}  // namespace npustream::serving
