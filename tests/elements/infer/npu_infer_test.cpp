#include "elements/infer/npu_infer.h"

#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

using Outcome = OrderedResults::Outcome;
using Wait = OrderedResults::Wait;

// Answers when the test says so, in any order.
class FakeRunner : public serving::ModelRunner {
 public:
  const serving::ModelInfo& info() const override { return info_; }
  Status Submit(serving::InferenceRequest request) override {
    if (!refusal.ok()) return refusal;
    requests.push_back(std::move(request));
    return Status();
  }
  serving::RunnerStats stats() const override { return {}; }

  void Answer(size_t index, int batch = 1) {
    serving::InferenceResponse response;
    response.batch = batch;
    requests[index].done(std::move(response));
  }

  std::vector<serving::InferenceRequest> requests;
  Status refusal;

 private:
  serving::ModelInfo info_;
};

OrderedResults::Payload Text(const std::string& text) {
  return OrderedResults::Payload(std::make_unique<std::string>(text).release(), [](void* owned) {
    std::unique_ptr<std::string>(static_cast<std::string*>(owned)).reset();
  });
}
const std::string& TextOf(const OrderedResults::Item& item) { return *static_cast<std::string*>(item.payload.get()); }

Outcome SubmitText(OrderedResults& results, FakeRunner& runner, const std::string& text, Wait wait = Wait::kYes) {
  OrderedResults::Payload payload = Text(text);
  Status status;
  return results.Submit(payload, runner, {}, wait, status);
}
Outcome AddText(OrderedResults& results, const std::string& text) {
  OrderedResults::Payload payload = Text(text);
  return results.Add(payload, true);
}

TEST(OrderedResults, KeepsTheOrderWhenResponsesComeInAnother) {
  FakeRunner runner;
  OrderedResults results(4);
  for (const char* frame : {"a", "b", "c"}) ASSERT_EQ(SubmitText(results, runner, frame), Outcome::kAccepted);
  runner.Answer(2, 30);
  runner.Answer(0, 10);
  runner.Answer(1, 20);
  for (const auto& [text, batch] : {std::pair{"a", 10}, {"b", 20}, {"c", 30}}) {
    const auto item = results.Take();
    ASSERT_TRUE(item.has_value());
    EXPECT_EQ(TextOf(*item), text);
    EXPECT_EQ(item->response->batch, batch);
  }
}

TEST(OrderedResults, AnEventStaysBetweenTheFramesAroundIt) {
  FakeRunner runner;
  OrderedResults results(4);
  SubmitText(results, runner, "frame 1");
  AddText(results, "caps");
  SubmitText(results, runner, "frame 2");
  AddText(results, "eos");
  runner.Answer(1);
  runner.Answer(0);
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) order.push_back(TextOf(*results.Take()));
  EXPECT_EQ(order, (std::vector<std::string>{"frame 1", "caps", "frame 2", "eos"}));
}

TEST(OrderedResults, AnItemWithoutARequestHasNoResponse) {
  OrderedResults results(1);
  AddText(results, "caps");
  EXPECT_FALSE(results.Take()->response.has_value());
}

TEST(OrderedResults, SaysThatItIsFullAndGivesThePayloadBack) {
  FakeRunner runner;
  OrderedResults results(2);
  SubmitText(results, runner, "a");
  SubmitText(results, runner, "b");
  OrderedResults::Payload payload = Text("c");
  Status status;
  EXPECT_EQ(results.Submit(payload, runner, {}, Wait::kNo, status), Outcome::kFull);
  ASSERT_NE(payload, nullptr);
  EXPECT_EQ(runner.requests.size(), 2u);
  runner.Answer(0);
  EXPECT_EQ(SubmitText(results, runner, "c", Wait::kNo), Outcome::kFull) << "done, but not yet taken";
  results.Take();
  EXPECT_EQ(SubmitText(results, runner, "c", Wait::kNo), Outcome::kAccepted);
}

TEST(OrderedResults, ABlockedSubmitGoesOnWhenAFrameHasBeenTaken) {
  FakeRunner runner;
  OrderedResults results(1);
  SubmitText(results, runner, "a");
  auto second = std::async(std::launch::async, [&] { return SubmitText(results, runner, "b"); });
  runner.Answer(0);
  EXPECT_EQ(TextOf(*results.Take()), "a");
  EXPECT_EQ(second.get(), Outcome::kAccepted);
  EXPECT_EQ(runner.requests.size(), 2u);
}

TEST(OrderedResults, StopWakesBothSidesAndLateResponsesAreHarmless) {
  FakeRunner runner;
  OrderedResults results(1);
  SubmitText(results, runner, "a");
  auto submitting = std::async(std::launch::async, [&] { return SubmitText(results, runner, "b"); });
  auto taking = std::async(std::launch::async, [&] { return results.Take().has_value(); });
  results.Stop();
  EXPECT_EQ(submitting.get(), Outcome::kStopped);
  EXPECT_FALSE(taking.get());
  EXPECT_EQ(AddText(results, "event"), Outcome::kStopped);
  runner.Answer(0);
  results.Start();
  SubmitText(results, runner, "c");
  runner.Answer(1);
  EXPECT_EQ(TextOf(*results.Take()), "c");
}

TEST(OrderedResults, StopLetsGoOfWhatIsInsideAtOnce) {
  FakeRunner runner;
  OrderedResults results(1);
  const auto held = std::make_shared<int>(1);
  OrderedResults::Payload payload(std::make_unique<std::shared_ptr<int>>(held).release(), [](void* owned) {
    std::unique_ptr<std::shared_ptr<int>>(static_cast<std::shared_ptr<int>*>(owned)).reset();
  });
  Status status;
  results.Submit(payload, runner, {}, Wait::kYes, status);
  ASSERT_EQ(held.use_count(), 2);
  results.Stop();
  EXPECT_EQ(held.use_count(), 1) << "the runner's request must not keep the frame alive";
}

TEST(OrderedResults, ARefusedRequestTakesNoPlace) {
  FakeRunner runner;
  OrderedResults results(1);
  runner.refusal = Status(StatusCode::kInvalidArgument, "no");
  OrderedResults::Payload payload = Text("a");
  Status status;
  EXPECT_EQ(results.Submit(payload, runner, {}, Wait::kYes, status), Outcome::kAccepted);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(results.in_flight(), 0u);
  AddText(results, "eos");
  EXPECT_EQ(TextOf(*results.Take()), "eos");
}

}  // namespace
}  // namespace npustream::elements
