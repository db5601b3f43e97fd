#include <array>
#include <cstdlib>
#include <latch>
#include <memory>

#include <gtest/gtest.h>

#include "npu_sim/device/scheduler.h"
#include "tests/support/allocation_counter.h"

namespace npustream::device {
namespace {

TEST(AllocationCounter, SeesOperatorNewAndMalloc) {
  if (!testing_support::AllocationsAreCounted()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  const uint64_t before = testing_support::AllocationCount();
  const auto number = std::make_unique<volatile int>(1);
  std::free(std::malloc(4096 + static_cast<size_t>(*number)));
  EXPECT_GE(testing_support::AllocationCount() - before, 1u);
}

TEST(Scheduler, SubmittingAllocatesNothingOnceTasksHaveFlowed) {
  if (!testing_support::AllocationsAreCounted()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  Scheduler scheduler(2, Clock::System());
  const auto stream = scheduler.CreateStream();
  const auto other = scheduler.CreateStream();
  const auto event = scheduler.CreateEvent();
  std::array<void*, 8> captured{};
  int sum = 0;
  const auto submit_some = [&] {
    for (int index = 0; index < 16; ++index) {
      (void)stream->SubmitParts(4, [captured](int, int) {
        return captured[0] == nullptr ? Status() : Status(StatusCode::kInternal, "captured bytes changed");
      });
      (void)stream->Submit(Engine::kDma, [&sum] {
        ++sum;
        return Status();
      });
      (void)stream->SubmitDeferred(Engine::kHost, [](TaskToken token) { token.Complete(Status()); });
      (void)stream->Record(event);
      (void)other->Wait(event);
    }
    EXPECT_TRUE(stream->Synchronize().ok());
    EXPECT_TRUE(other->Synchronize().ok());
  };
  // More tasks at once than the measured rounds can have, however the threads are scheduled.
  std::latch let_go(1);
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             let_go.wait();
                             return Status();
                           })
                  .ok());
  for (int index = 0; index < 200; ++index) (void)stream->Submit(Engine::kDma, [] { return Status(); });
  let_go.count_down();
  submit_some();

  const uint64_t before = testing_support::AllocationCount();
  for (int round = 0; round < 10; ++round) submit_some();
  EXPECT_EQ(testing_support::AllocationCount() - before, 0u);
  EXPECT_EQ(sum, 16 * 11);
}

}  // namespace
}  // namespace npustream::device
