#include <algorithm>
#include <filesystem>
#include <latch>
#include <vector>

#include "tests/runtime/acl/acl_test.h"

namespace npustream::acl_test {
namespace {

class AclStream : public AclTest {
 protected:
  // A host function that holds a stream back until `let_go`.
  static void Hold(void* latch) { static_cast<std::latch*>(latch)->wait(); }
};

TEST_F(AclStream, IsFirstInFirstOut) {
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  struct Entry {
    std::vector<int>* order;
    int value;
  };
  std::vector<int> order;
  std::vector<Entry> entries;
  for (int value = 0; value < 100; ++value) entries.push_back({&order, value});
  void* memory = nullptr;
  ASSERT_ACL_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  for (Entry& entry : entries) {
    ASSERT_ACL_OK(aclrtMemsetAsync(memory, 64, entry.value, 64, stream));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(
        stream,
        [](void* argument) {
          auto* mine = static_cast<Entry*>(argument);
          mine->order->push_back(mine->value);
        },
        &entry));
  }
  ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_ACL_OK(aclrtFree(memory));
  EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

TEST_F(AclStream, NullMeansTheDefaultStreamOfTheContext) {
  int calls = 0;
  ASSERT_ACL_OK(aclrtLaunchHostFunc(
      nullptr, [](void* argument) { ++*static_cast<int*>(argument); }, &calls));
  ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(aclrtDestroyStream(nullptr), 100000);
}

TEST_F(AclStream, InAnotherContextItIsRefusedWith107003) {
  aclrtContext standard = nullptr, other = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&standard));
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107003);
  EXPECT_EQ(aclrtDestroyStream(stream), 107003);
  ASSERT_ACL_OK(aclrtSetCurrentContext(standard));
  EXPECT_ACL_OK(aclrtDestroyStream(stream));
  EXPECT_ACL_OK(aclrtDestroyContext(other));
}

TEST_F(AclStream, ADeadOrWildHandleIs107017) {
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  ASSERT_ACL_OK(aclrtDestroyStream(stream));
  EXPECT_EQ(aclrtDestroyStream(stream), 107017);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107017);
  aclrtStream next = nullptr;  // takes the place of the first, under another number
  ASSERT_ACL_OK(aclrtCreateStream(&next));
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107017);
  EXPECT_EQ(aclrtSynchronizeStream(&stream), 107017);
  aclrtEvent event = nullptr;
  ASSERT_ACL_OK(aclrtCreateEvent(&event));
  EXPECT_EQ(aclrtSynchronizeStream(event), 107017);
  EXPECT_ACL_OK(aclrtDestroyEvent(event));
  EXPECT_ACL_OK(aclrtDestroyStream(next));
}

TEST_F(AclStream, SynchronizeWithTimeoutGivesUpWith507046) {
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  std::latch let_go(1);
  ASSERT_ACL_OK(aclrtLaunchHostFunc(stream, Hold, &let_go));
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_ACL_OK(aclrtStreamQuery(stream, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -2), 107000);
  let_go.count_down();
  EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
  EXPECT_ACL_OK(aclrtStreamQuery(stream, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

TEST_F(AclStream, SynchronizeDeviceWaitsForAllStreamsOfTheContext) {
  std::vector<aclrtStream> streams(4);
  std::vector<int> done(4);
  for (size_t index = 0; index < streams.size(); ++index) {
    ASSERT_ACL_OK(aclrtCreateStream(&streams[index]));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(
        streams[index], [](void* flag) { *static_cast<int*>(flag) = 1; }, &done[index]));
  }
  ASSERT_ACL_OK(aclrtSynchronizeDevice());
  for (const int flag : done) EXPECT_EQ(flag, 1);
  for (aclrtStream stream : streams) EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

TEST_F(AclStream, TwoThousandNeedNoThreadsAndMoreThan2048Are207008) {
  const auto count_threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  const auto threads = count_threads();
  std::vector<aclrtStream> streams;
  aclrtStream stream = nullptr;
  while (aclrtCreateStream(&stream) == ACL_SUCCESS) streams.push_back(stream);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 207008);
  EXPECT_GE(streams.size(), 2000u);
  EXPECT_EQ(count_threads(), threads);
  for (aclrtStream each : streams) ASSERT_ACL_OK(aclrtDestroyStream(each));
}

TEST_F(AclStream, DestroyWaitsForItsTasks) {
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  int done = 0;
  for (int index = 0; index < 50; ++index) {
    ASSERT_ACL_OK(aclrtLaunchHostFunc(
        stream, [](void* count) { ++*static_cast<int*>(count); }, &done));
  }
  ASSERT_ACL_OK(aclrtDestroyStream(stream));
  EXPECT_EQ(done, 50);
}

TEST_F(AclStream, FlagsAndPrioritiesThatDoNotExistAreRefused) {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 8, 0), 107000);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, 0x8000), 107000);
  ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 7, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
  EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

}  // namespace
}  // namespace npustream::acl_test
