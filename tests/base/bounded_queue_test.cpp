#include "base/bounded_queue.h"

#include <thread>

#include <gtest/gtest.h>

namespace npustream {
namespace {

TEST(BoundedQueue, KeepsOrderAroundItsEnd) {
  BoundedQueue<int> queue(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(queue.Push(i).accepted);
    EXPECT_EQ(queue.Pop(), i);
  }
}

TEST(BoundedQueue, DropOldestGivesTheOldestBack) {
  BoundedQueue<int> queue(2, WhenFull::kDropOldest);
  queue.Push(1);
  queue.Push(2);
  const auto outcome = queue.Push(3);
  EXPECT_TRUE(outcome.accepted);
  EXPECT_EQ(outcome.displaced, 1);
  EXPECT_EQ(queue.Pop(), 2);
}

TEST(BoundedQueue, FailGivesTheNewcomerBack) {
  BoundedQueue<int> queue(1, WhenFull::kFail);
  queue.Push(1);
  const auto outcome = queue.Push(2);
  EXPECT_FALSE(outcome.accepted);
  EXPECT_EQ(outcome.displaced, 2);
}

TEST(BoundedQueue, CloseDrainsAndThenEnds) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close();
  EXPECT_FALSE(queue.Push(2).accepted);
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueue, BlockedPushGoesOnWhenThereIsRoom) {
  BoundedQueue<int> queue(1);
  queue.Push(1);
  std::thread pusher([&] { queue.Push(2); });
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), 2);
  pusher.join();
}

}  // namespace
}  // namespace npustream
