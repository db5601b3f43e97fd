#include <latch>

#include "tests/runtime/acl/acl_test.h"

namespace npustream::acl_test {
namespace {

class AclEvent : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_ACL_OK(aclrtCreateStream(&first_));
    ASSERT_ACL_OK(aclrtCreateStream(&second_));
  }
  void TearDown() override {
    EXPECT_ACL_OK(aclrtDestroyStream(first_));
    EXPECT_ACL_OK(aclrtDestroyStream(second_));
    AclTest::TearDown();
  }
  static void Hold(void* latch) { static_cast<std::latch*>(latch)->wait(); }

  aclrtStream first_ = nullptr;
  aclrtStream second_ = nullptr;
};

TEST_F(AclEvent, AWaitHoldsBackAnotherStreamUntilTheRecord) {
  aclrtEvent event = nullptr;
  ASSERT_ACL_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  std::latch let_go(1);
  struct Shared {
    int produced = 0;
    int seen = -1;
  } shared;
  ASSERT_ACL_OK(aclrtLaunchHostFunc(first_, Hold, &let_go));
  ASSERT_ACL_OK(aclrtLaunchHostFunc(
      first_, [](void* s) { static_cast<Shared*>(s)->produced = 7; }, &shared));
  ASSERT_ACL_OK(aclrtRecordEvent(event, first_));
  ASSERT_ACL_OK(aclrtStreamWaitEvent(second_, event));
  ASSERT_ACL_OK(aclrtLaunchHostFunc(
      second_, [](void* s) { static_cast<Shared*>(s)->seen = static_cast<Shared*>(s)->produced; }, &shared));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_ACL_OK(aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  let_go.count_down();
  ASSERT_ACL_OK(aclrtSynchronizeStream(second_));
  EXPECT_EQ(shared.seen, 7);
  EXPECT_ACL_OK(aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(AclEvent, ElapsedTimeNeedsBothToHaveHappened) {
  aclrtEvent begin = nullptr, end = nullptr;
  float ms = -1;
  ASSERT_ACL_OK(aclrtCreateEvent(&begin));
  ASSERT_ACL_OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
  ASSERT_ACL_OK(aclrtRecordEvent(begin, first_));
  ASSERT_ACL_OK(aclrtSynchronizeEvent(begin));
  EXPECT_EQ(aclrtEventElapsedTime(&ms, begin, end), 107006);
  ASSERT_ACL_OK(aclrtRecordEvent(end, first_));
  ASSERT_ACL_OK(aclrtSynchronizeStream(first_));
  ASSERT_ACL_OK(aclrtEventElapsedTime(&ms, begin, end));
  EXPECT_GE(ms, 0);
  uint64_t begin_us = 0, end_us = 0;
  EXPECT_ACL_OK(aclrtEventGetTimestamp(begin, &begin_us));
  EXPECT_ACL_OK(aclrtEventGetTimestamp(end, &end_us));
  EXPECT_NEAR(ms, static_cast<double>(end_us - begin_us) / 1000, 0.002);
  EXPECT_ACL_OK(aclrtDestroyEvent(begin));
  EXPECT_ACL_OK(aclrtDestroyEvent(end));
}

TEST_F(AclEvent, WithoutTimeLineItKeepsNoTime) {
  aclrtEvent event = nullptr;
  float ms = 0;
  ASSERT_ACL_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  ASSERT_ACL_OK(aclrtRecordEvent(event, first_));
  ASSERT_ACL_OK(aclrtSynchronizeStream(first_));
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event, event), 107006);
  EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(AclEvent, OnlyThoseWithTheSyncFlagAreReset) {
  aclrtEvent plain = nullptr, sync = nullptr;
  ASSERT_ACL_OK(aclrtCreateEvent(&plain));
  ASSERT_ACL_OK(aclrtCreateEventWithFlag(&sync, ACL_EVENT_SYNC));
  EXPECT_EQ(aclrtResetEvent(plain, first_), 107000);
  ASSERT_ACL_OK(aclrtRecordEvent(sync, first_));
  ASSERT_ACL_OK(aclrtResetEvent(sync, first_));
  ASSERT_ACL_OK(aclrtSynchronizeStream(first_));
  aclrtEventStatus status = ACL_EVENT_STATUS_COMPLETE;
  EXPECT_ACL_OK(aclrtQueryEvent(sync, &status));
  EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
  EXPECT_ACL_OK(aclrtDestroyEvent(plain));
  EXPECT_ACL_OK(aclrtDestroyEvent(sync));
}

TEST_F(AclEvent, SynchronizeWithTimeoutGivesUpWith507047) {
  aclrtEvent event = nullptr;
  std::latch let_go(1);
  ASSERT_ACL_OK(aclrtCreateEvent(&event));
  EXPECT_EQ(aclrtSynchronizeEvent(event), 107000);  // never recorded
  ASSERT_ACL_OK(aclrtLaunchHostFunc(first_, Hold, &let_go));
  ASSERT_ACL_OK(aclrtRecordEvent(event, first_));
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 1), 507047);
  let_go.count_down();
  EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
  EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(AclEvent, DeadHandlesAreErrors) {
  aclrtEvent event = nullptr;
  ASSERT_ACL_OK(aclrtCreateEvent(&event));
  ASSERT_ACL_OK(aclrtDestroyEvent(event));
  EXPECT_EQ(aclrtDestroyEvent(event), 107017);
  EXPECT_EQ(aclrtRecordEvent(event, first_), 107017);
  EXPECT_EQ(aclrtStreamWaitEvent(first_, first_), 107017);
  EXPECT_EQ(aclrtRecordEvent(nullptr, first_), 100000);
}

}  // namespace
}  // namespace npustream::acl_test
