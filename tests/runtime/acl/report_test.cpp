#include <pthread.h>

#include <atomic>
#include <latch>
#include <thread>

#include "tests/runtime/acl/acl_test.h"

namespace npustream::acl_test {
namespace {

uint64_t ThisThread() { return static_cast<uint64_t>(pthread_self()); }

class AclReport : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_ACL_OK(aclrtCreateStream(&stream_));
  }
  void TearDown() override {
    EXPECT_ACL_OK(aclrtDestroyStream(stream_));
    AclTest::TearDown();
  }
  aclrtStream stream_ = nullptr;
};

void NoteThread(void* place) { *static_cast<std::atomic<uint64_t>*>(place) = ThisThread(); }

TEST_F(AclReport, CallbacksRunOnTheSubscribedThreadInProcessReport) {
  ASSERT_ACL_OK(aclrtSubscribeReport(ThisThread(), stream_));
  std::atomic<uint64_t> ran_on = 0;
  ASSERT_ACL_OK(aclrtLaunchCallback(NoteThread, &ran_on, ACL_CALLBACK_NO_BLOCK, stream_));
  ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));  // does not wait for the callback to run
  EXPECT_EQ(ran_on, 0u);
  ASSERT_ACL_OK(aclrtProcessReport(-1));
  EXPECT_EQ(ran_on, ThisThread());
  EXPECT_ACL_OK(aclrtUnSubscribeReport(ThisThread(), stream_));
}

TEST_F(AclReport, ABlockingCallbackHoldsTheStreamBack) {
  ASSERT_ACL_OK(aclrtSubscribeReport(ThisThread(), stream_));
  std::atomic<uint64_t> callback = 0, after = 0;
  ASSERT_ACL_OK(aclrtLaunchCallback(NoteThread, &callback, ACL_CALLBACK_BLOCK, stream_));
  ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, NoteThread, &after));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), 507046);
  EXPECT_EQ(after, 0u);
  ASSERT_ACL_OK(aclrtProcessReport(1000));
  ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
  EXPECT_EQ(callback, ThisThread());
  EXPECT_NE(after, 0u);
  EXPECT_NE(after, ThisThread());  // host functions have a thread of the runtime's own
}

TEST_F(AclReport, OneThreadServesManyStreams) {
  aclrtStream other = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&other));
  ASSERT_ACL_OK(aclrtSubscribeReport(ThisThread(), stream_));
  ASSERT_ACL_OK(aclrtSubscribeReport(ThisThread(), other));
  std::atomic<uint64_t> first = 0, second = 0;
  ASSERT_ACL_OK(aclrtLaunchCallback(NoteThread, &first, ACL_CALLBACK_BLOCK, stream_));
  ASSERT_ACL_OK(aclrtLaunchCallback(NoteThread, &second, ACL_CALLBACK_BLOCK, other));
  ASSERT_ACL_OK(aclrtProcessReport(-1));
  ASSERT_ACL_OK(aclrtProcessReport(-1));
  EXPECT_EQ(first, ThisThread());
  EXPECT_EQ(second, ThisThread());
  EXPECT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(AclReport, AStreamHasOneThread) {
  ASSERT_ACL_OK(aclrtSubscribeReport(ThisThread(), stream_));
  EXPECT_EQ(aclrtSubscribeReport(ThisThread() + 1, stream_), 100033);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThread() + 1, stream_), 100035);
  EXPECT_ACL_OK(aclrtUnSubscribeReport(ThisThread(), stream_));
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), 100034);
}

TEST_F(AclReport, WithoutASubscriptionThereAreNoCallbacks) {
  EXPECT_EQ(aclrtLaunchCallback(NoteThread, nullptr, ACL_CALLBACK_BLOCK, stream_), 100034);
  std::thread([] { EXPECT_EQ(aclrtProcessReport(-1), 100035); }).join();
}

TEST_F(AclReport, ATimeoutIs100036AndZeroIsNone) {
  ASSERT_ACL_OK(aclrtSubscribeReport(ThisThread(), stream_));
  EXPECT_EQ(aclrtProcessReport(1), 100036);
  EXPECT_EQ(aclrtProcessReport(0), 107000);
  EXPECT_EQ(aclrtProcessReport(-2), 107000);
}

TEST_F(AclReport, AThreadMayWaitBeforeTheCallbackComes) {
  std::atomic<uint64_t> worker_id = 0;
  std::latch subscribed(1);
  std::atomic<uint64_t> ran_on = 0;
  std::thread worker([&] {
    worker_id = ThisThread();
    worker_id.notify_all();
    subscribed.wait();
    EXPECT_ACL_OK(aclrtProcessReport(-1));
  });
  worker_id.wait(0);
  ASSERT_ACL_OK(aclrtSubscribeReport(worker_id, stream_));
  subscribed.count_down();
  ASSERT_ACL_OK(aclrtLaunchCallback(NoteThread, &ran_on, ACL_CALLBACK_BLOCK, stream_));
  ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
  EXPECT_EQ(ran_on, worker_id);
  worker.join();
}

TEST_F(AclReport, MissingFunctionsAreRefused) {
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, nullptr, nullptr), 100000);
  EXPECT_EQ(aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream_), 100000);
  EXPECT_EQ(aclrtLaunchCallback(NoteThread, nullptr, static_cast<aclrtCallbackBlockType>(5), stream_), 100000);
}

}  // namespace
}  // namespace npustream::acl_test
