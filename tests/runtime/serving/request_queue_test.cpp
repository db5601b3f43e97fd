#include "runtime/serving/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

using testing::ElementsAre;

struct Sent {
  uint64_t source = 0;
  int64_t at_ns = 0;  // tells requests apart
  int priority = 0;
  double weight = 1;
  int64_t deadline_ns = 0;
};

void Push(RequestQueue& queue, const Sent& sent) {
  PendingRequest pending;
  pending.request.source = sent.source;
  pending.request.priority = sent.priority;
  pending.request.weight = sent.weight;
  pending.request.deadline_ns = sent.deadline_ns;
  pending.submitted_ns = sent.at_ns;
  queue.Push(std::move(pending));
}

void PushMany(RequestQueue& queue, int count, Sent sent) {
  for (int i = 0; i < count; ++i, ++sent.at_ns) Push(queue, sent);
}

std::vector<uint64_t> SourcesOfNext(RequestQueue& queue, int count) {
  std::vector<uint64_t> sources;
  for (int i = 0; i < count; ++i) sources.push_back(queue.Pop().request.source);
  return sources;
}

TEST(RequestQueueTest, OneSourceIsServedInItsOrder) {
  RequestQueue queue(8);
  PushMany(queue, 3, {.source = 1, .at_ns = 10});
  EXPECT_EQ(queue.size(), 3u);
  for (const int64_t expected : {10, 11, 12}) EXPECT_EQ(queue.Pop().submitted_ns, expected);
  EXPECT_TRUE(queue.empty());
}

TEST(RequestQueueTest, AFloodDoesNotHoldUpOthers) {
  RequestQueue queue(64);
  PushMany(queue, 10, {.source = 1});
  Push(queue, {.source = 2});
  Push(queue, {.source = 3});
  EXPECT_THAT(SourcesOfNext(queue, 5), ElementsAre(1, 2, 3, 1, 1));
}

TEST(RequestQueueTest, TurnsAreInProportionToWeights) {
  RequestQueue queue(1000);
  PushMany(queue, 300, {.source = 1, .weight = 3});
  PushMany(queue, 300, {.source = 2, .weight = 1});
  PushMany(queue, 300, {.source = 3, .weight = 0.5});
  std::map<uint64_t, int> turns;
  for (const uint64_t source : SourcesOfNext(queue, 90)) ++turns[source];
  EXPECT_EQ(turns[1], 60);
  EXPECT_EQ(turns[2], 20);
  EXPECT_EQ(turns[3], 10);
}

TEST(RequestQueueTest, AWeightThatMeansNothingStillGetsItsTurn) {
  RequestQueue queue(64);
  Push(queue, {.source = 1, .weight = 0});
  Push(queue, {.source = 2, .weight = -5});
  EXPECT_THAT(SourcesOfNext(queue, 2), ElementsAre(1, 2));
}

TEST(RequestQueueTest, HigherPriorityLeavesFirst) {
  RequestQueue queue(64);
  PushMany(queue, 2, {.source = 1});
  PushMany(queue, 2, {.source = 2, .priority = 5});
  PushMany(queue, 2, {.source = 3, .priority = -1});
  EXPECT_THAT(SourcesOfNext(queue, 6), ElementsAre(2, 2, 1, 1, 3, 3));
}

TEST(RequestQueueTest, ANewPriorityTakesTheSourceAlongInItsOrder) {
  RequestQueue queue(64);
  Push(queue, {.source = 1, .at_ns = 1});
  Push(queue, {.source = 2, .at_ns = 2});
  Push(queue, {.source = 2, .at_ns = 3, .priority = 1});
  EXPECT_EQ(queue.Pop().submitted_ns, 2);
  EXPECT_EQ(queue.Pop().submitted_ns, 3);
  EXPECT_EQ(queue.Pop().submitted_ns, 1);
}

TEST(RequestQueueTest, RoomIsSharedAmongThoseWhoWait) {
  RequestQueue queue(4);
  PushMany(queue, 4, {.source = 1});
  EXPECT_FALSE(queue.HasRoom(1));
  EXPECT_TRUE(queue.HasRoom(2)) << "a flood leaves room for others";
  PushMany(queue, 2, {.source = 2});
  EXPECT_FALSE(queue.HasRoom(2)) << "two share four";
  for (uint64_t source = 3; source < 10; ++source) {
    EXPECT_TRUE(queue.HasRoom(source)) << "one request each in any case";
    Push(queue, {.source = source});
    EXPECT_FALSE(queue.HasRoom(source));
  }
}

TEST(RequestQueueTest, TheOldestOfASourceMakesRoom) {
  RequestQueue queue(2);
  PushMany(queue, 2, {.source = 1, .at_ns = 10});
  EXPECT_FALSE(queue.PopOldestOf(7).has_value());
  const auto dropped = queue.PopOldestOf(1);
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->submitted_ns, 10);
  EXPECT_TRUE(queue.HasRoom(1));
  EXPECT_EQ(queue.Pop().submitted_ns, 11);
}

TEST(RequestQueueTest, WhatIsPastItsDeadlineIsTakenOut) {
  RequestQueue queue(64);
  Push(queue, {.source = 1, .at_ns = 1, .deadline_ns = 100});
  Push(queue, {.source = 1, .at_ns = 2, .deadline_ns = 300});
  Push(queue, {.source = 2, .at_ns = 3});
  EXPECT_TRUE(queue.TakeExpired(99).empty());
  const auto expired = queue.TakeExpired(100);
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].submitted_ns, 1);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.oldest_submitted_ns(), 2);
  EXPECT_EQ(queue.TakeAll().size(), 2u);
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.TakeExpired(1000).empty());
}

}  // namespace
}  // namespace npustream::serving
