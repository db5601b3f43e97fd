#include "runtime/serving/model_scheduler.h"

#include <deque>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

constexpr int64_t kMs = 1'000'000;

// A device that runs one image at a time and models of one image a batch, a and b.
class ModelSchedulerTest : public ::testing::Test {
 protected:
  void Make(const SchedulerOptions& options, double weight_of_a = 1, size_t cores = 1) {
    scheduler_.emplace(options, cores, clock_);
    a_ = &batchers_.emplace_back(BatcherOptions{.queue_size = 1000, .depth = 1}, clock_);
    b_ = &batchers_.emplace_back(BatcherOptions{.queue_size = 1000, .depth = 1}, clock_);
    scheduler_->Add(*a_, weight_of_a);
    scheduler_->Add(*b_, 1);
  }

  void Push(Batcher* model, int count) {
    for (int i = 0; i < count; ++i) model->Push({});
  }

  // Who comes next: "a", "b", or "" when nobody may.
  std::string Next() {
    Batcher* model = scheduler_->Choose();
    if (model == nullptr) return "";
    EXPECT_TRUE(model->Take(batch_));
    return model == a_ ? "a" : "b";
  }
  // Each batch runs for `ms` before the next one is asked for.
  std::string Run(int batches, int64_t ms) {
    std::string order;
    for (int i = 0; i < batches; ++i) {
      const std::string next = Next();
      order += next;
      clock_.AdvanceNs(ms * kMs);
      if (!next.empty()) (next == "a" ? a_ : b_)->Finish(1);
    }
    return order;
  }

  FakeClock clock_{1000};
  std::deque<Batcher> batchers_;
  Batcher* a_ = nullptr;
  Batcher* b_ = nullptr;
  std::optional<ModelScheduler> scheduler_;
  Batch batch_;
};

TEST_F(ModelSchedulerTest, FifoTakesWhoHasWaitedLongest) {
  Make({.policy = SchedulingPolicy::kFifo});
  for (Batcher* model : {a_, b_, b_, a_}) {
    Push(model, 1);
    clock_.AdvanceNs(1);
  }
  EXPECT_EQ(Run(5, 1), "abba");
}

TEST_F(ModelSchedulerTest, GroupedStaysWithAModelWhileItHasWork) {
  Make({});
  for (int i = 0; i < 4; ++i) {
    for (Batcher* model : {a_, b_}) {
      Push(model, 1);
      clock_.AdvanceNs(1);
    }
  }
  EXPECT_EQ(Run(8, 1), "aaaabbbb");
}

TEST_F(ModelSchedulerTest, ATurnEndsWhenAnotherModelWaits) {
  Make({.turn_ns = 5 * kMs, .longest_wait_ns = 1000 * kMs});
  Push(a_, 20);
  EXPECT_EQ(Run(8, 1), "aaaaaaaa") << "alone it goes on";
  Push(b_, 20);
  EXPECT_EQ(Run(12, 1), "bbbbbaaaaabb");
}

TEST_F(ModelSchedulerTest, AWeightStretchesTurns) {
  Make({.turn_ns = 2 * kMs, .longest_wait_ns = 1000 * kMs}, 2);
  Push(a_, 20);
  Push(b_, 20);
  EXPECT_EQ(Run(12, 1), "aaaabbaaaabb");
}

TEST_F(ModelSchedulerTest, AnOverdueRequestEndsAnotherModelsTurn) {
  Make({.turn_ns = 1000 * kMs, .longest_wait_ns = 3 * kMs});
  Push(a_, 20);
  EXPECT_EQ(Run(1, 1), "a");
  Push(b_, 1);
  EXPECT_EQ(Run(5, 1), "aaaba");
}

TEST_F(ModelSchedulerTest, AFullDepthKeepsTheTurnWhileTheDeviceIsBusy) {
  Make({.turn_ns = 5 * kMs, .longest_wait_ns = 7 * kMs});
  Push(a_, 3);
  ASSERT_EQ(Next(), "a");
  Push(b_, 1);
  EXPECT_EQ(Next(), "") << "a has work, and its batch keeps the device busy";
  EXPECT_EQ(scheduler_->WakeAtNs(), 1000 + 5 * kMs);
  clock_.AdvanceNs(5 * kMs);
  EXPECT_EQ(Next(), "b");
}

TEST_F(ModelSchedulerTest, IdleCoresAreAnyModels) {
  Make({}, 1, 2);
  Push(a_, 3);
  Push(b_, 3);
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(Next(), "b");
  EXPECT_EQ(Next(), "");
  a_->Finish(1);
  EXPECT_EQ(Next(), "a") << "the turn is still a's";
}

TEST_F(ModelSchedulerTest, AModelThatGoesTakesItsTurnAlong) {
  Make({});
  Push(a_, 2);
  Push(b_, 2);
  ASSERT_EQ(Next(), "a");
  a_->Finish(1);
  scheduler_->Remove(*a_);
  EXPECT_EQ(Run(3, 1), "bb");
  EXPECT_EQ(scheduler_->WakeAtNs(), std::nullopt);
}

}  // namespace
}  // namespace npustream::serving
