#include "base/bounded_queue.h"

#include <thread>

#include <gtest/gtest.h>

namespace npustream {
namespace {

TEST(BoundedQueue, KeepsOrderAroundItsEnd) {
  BoundedQueue<int> queue(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(queue.Push(i));
    EXPECT_EQ(queue.Pop(), i);
  }
}

TEST(BoundedQueue, CloseDrainsAndThenEnds) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close();
  EXPECT_FALSE(queue.Push(2));
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
