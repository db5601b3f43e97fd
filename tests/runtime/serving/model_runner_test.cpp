#include "runtime/serving/model_runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/mutex.h"
#include "npu_sim/device/device.h"
#include "runtime/serving/acl_session.h"
#include "runtime/serving/model_store.h"
#include "tests/runtime/acl/test_models.h"
#include "tests/runtime/serving/acl_faults.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temporary_folder.h"

namespace npustream::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kHourMs = 3'600'000;  // a timeout that does not pass during a test

// Collects responses from the runner's thread.
class Responses {
 public:
  std::function<void(InferenceResponse)> Slot(size_t index) {
    return [this, index](InferenceResponse response) {
      MutexLock lock(mutex_);
      order_.push_back(index);
      if (responses_.size() <= index) responses_.resize(index + 1);
      responses_[index] = std::move(response);
      changed_.NotifyAll();
    };
  }
  // Waits until `count` have come.
  std::vector<InferenceResponse> Await(size_t count) {
    MutexLock lock(mutex_);
    while (order_.size() < count) changed_.Wait(lock);
    return responses_;
  }
  std::vector<size_t> order() {
    MutexLock lock(mutex_);
    return order_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<InferenceResponse> responses_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<size_t> order_ NPUSTREAM_GUARDED_BY(mutex_);
};

// The embedded day model on the simulated card, compiled once for all tests.
class ModelRunnerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_support::ScopedEnvironment cache("NPUSTREAM_CACHE", NPUSTREAM_BINARY_DIR "/tests/cache");
    ModelRequest request;
    request.model = "coco-day";
    const auto resolved = ResolveModel(request);
    ASSERT_TRUE(resolved.ok()) << resolved.status().message();
    om_ = resolved->om;
  }

  void SetUp() override {
    auto session = AclSession::Acquire();
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_ = *session;
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override { aclrtResetDevice(0); }

  static RunnerOptions Options(int batch_size, int timeout_ms = 0) {
    RunnerOptions options;
    options.om = om_;
    options.batch_size = batch_size;
    options.batch_timeout_ms = timeout_ms;
    return options;
  }
  static std::shared_ptr<ModelRunner> Create(const RunnerOptions& options, Clock& clock = Clock::System()) {
    auto runner = ModelRunner::Create(options, clock);
    EXPECT_TRUE(runner.ok()) << runner.status().message();
    return runner.ok() ? *runner : nullptr;
  }

  // A picture of smooth random content in device memory; another one for each seed.
  static std::shared_ptr<void> Picture(const ModelInfo& info, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(info.input.bytes);
    int value = 128;
    for (uint8_t& byte : bytes) {
      value = std::clamp(value + static_cast<int>(random() % 31) - 15, 0, 255);
      byte = static_cast<uint8_t>(value);
    }
    void* device = nullptr;
    EXPECT_EQ(aclrtMalloc(&device, bytes.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    return std::shared_ptr<void>(device, aclrtFree);
  }
  static std::vector<std::shared_ptr<void>> Pictures(const ModelInfo& info, unsigned count) {
    std::vector<std::shared_ptr<void>> pictures;
    for (unsigned seed = 0; seed < count; ++seed) pictures.push_back(Picture(info, seed));
    return pictures;
  }

  static InferenceRequest RequestOf(const std::shared_ptr<void>& picture, std::function<void(InferenceResponse)> done) {
    InferenceRequest request;
    request.device_input = picture.get();
    request.keep_alive = picture;
    request.done = std::move(done);
    return request;
  }
  static std::vector<InferenceResponse> RunAll(ModelRunner& runner,
                                               const std::vector<std::shared_ptr<void>>& pictures) {
    Responses responses;
    for (size_t i = 0; i < pictures.size(); ++i) {
      const Status status = runner.Submit(RequestOf(pictures[i], responses.Slot(i)));
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return responses.Await(pictures.size());
  }

  static void ExpectOnlyTheFourthToFail(ModelRunner& runner, const std::shared_ptr<void>& fourth,
                                        const std::function<void()>& before_ten);

  static std::filesystem::path om_;
  std::shared_ptr<AclSession> session_;
};

std::filesystem::path ModelRunnerTest::om_;

TEST_F(ModelRunnerTest, DescribesTheModel) {
  const auto runner = Create(Options(8));
  ASSERT_NE(runner, nullptr);
  const ModelInfo& info = runner->info();
  EXPECT_EQ(info.picture_format, PictureFormat::kNv12);
  EXPECT_EQ(info.picture_width, 416);
  EXPECT_EQ(info.picture_height, 416);
  EXPECT_EQ(info.input.bytes, 416u * 416 * 3 / 2);
  EXPECT_THAT(info.gears, ElementsAre(1, 2, 4, 8));
  ASSERT_EQ(info.outputs.size(), 6u);
  // As the README of configs/models says: cls8/16/32 [1,n,80], reg8/16/32 [1,n,44].
  const int64_t cells[] = {52 * 52, 26 * 26, 13 * 13};
  for (size_t i = 0; i < 6; ++i) {
    const int64_t channels = i < 3 ? 80 : 44;
    EXPECT_THAT(info.outputs[i].dims, ElementsAre(1, cells[i % 3], channels)) << info.outputs[i].name;
    EXPECT_EQ(info.outputs[i].bytes, static_cast<size_t>(cells[i % 3] * channels) * sizeof(float));
    EXPECT_EQ(info.outputs[i].type, ACL_FLOAT);
  }
}

TEST_F(ModelRunnerTest, ABatchGivesWhatItsImagesGiveAlone) {
  const auto alone = Create(Options(1));
  const auto together = Create(Options(8, kHourMs));
  ASSERT_TRUE(alone && together);
  const auto pictures = Pictures(alone->info(), 8);
  const auto singles = RunAll(*alone, pictures);
  const auto batched = RunAll(*together, pictures);
  for (size_t i = 0; i < pictures.size(); ++i) {
    ASSERT_TRUE(singles[i].status.ok()) << singles[i].status.message();
    ASSERT_TRUE(batched[i].status.ok()) << batched[i].status.message();
    EXPECT_EQ(singles[i].batch, 1);
    EXPECT_EQ(batched[i].batch, 8);
    for (size_t k = 0; k < alone->info().outputs.size(); ++k) {
      const auto one = singles[i].outputs->tensor(k), other = batched[i].outputs->tensor(k);
      ASSERT_EQ(one.size(), other.size());
      EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size()), 0) << "image " << i << " output " << k;
    }
  }
  // Different pictures, different scores: the comparison above is not between zeros.
  const auto first = singles[0].outputs->tensor(0), second = singles[1].outputs->tensor(0);
  EXPECT_NE(std::memcmp(first.data(), second.data(), first.size()), 0);
  EXPECT_EQ(together->stats().batches, 1u);
  EXPECT_EQ(together->stats().batches_by_size.at(8), 1u);
}

TEST_F(ModelRunnerTest, AnswersComeInTheOrderOfSubmission) {
  const auto runner = Create(Options(4));
  ASSERT_NE(runner, nullptr);
  const auto pictures = Pictures(runner->info(), 3);
  constexpr size_t kCount = 30;
  Responses responses;
  for (size_t i = 0; i < kCount; ++i) {
    InferenceRequest request = RequestOf(pictures[i % pictures.size()], responses.Slot(i));
    request.source = i % 5;
    ASSERT_TRUE(runner->Submit(std::move(request)).ok());
  }
  responses.Await(kCount);
  std::vector<size_t> expected(kCount);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(responses.order(), expected);
  const RunnerStats stats = runner->stats();
  EXPECT_EQ(stats.requests, kCount);
  EXPECT_EQ(stats.failures, 0u);
  EXPECT_EQ(stats.queue_wait_ns.size(), kCount);
  EXPECT_LT(stats.batches, kCount) << "what gathers while the device is busy leaves together";
}

TEST_F(ModelRunnerTest, InputsStayOnTheDeviceAndOnlyOutputsLeaveIt) {
  const auto runner = Create(Options(4, kHourMs));
  ASSERT_NE(runner, nullptr);
  const ModelInfo& info = runner->info();
  const auto pictures = Pictures(info, 4);
  const auto device = device::Device::Get(0);
  ASSERT_TRUE(device.ok());
  const device::CopyCounters before = (*device)->counters();
  RunAll(*runner, pictures);
  const device::CopyCounters after = (*device)->counters();
  size_t output_bytes = 0;
  for (const TensorInfo& output : info.outputs) output_bytes += output.bytes;
  EXPECT_EQ(after.host_to_device - before.host_to_device, 0u);
  EXPECT_EQ(after.device_to_host - before.device_to_host, 4 * output_bytes);
  EXPECT_EQ(after.device_to_device - before.device_to_device, 4 * info.input.bytes) << "gathered once";
}

TEST_F(ModelRunnerTest, ASingleImageIsNotCopied) {
  const auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  const auto pictures = Pictures(runner->info(), 3);
  const auto device = device::Device::Get(0);
  ASSERT_TRUE(device.ok());
  const uint64_t before = (*device)->counters().device_to_device;
  RunAll(*runner, pictures);
  EXPECT_EQ((*device)->counters().device_to_device, before);
}

// Runs ten pictures, of which request 3 is expected to fail, and compares the others with what they give alone.
void ModelRunnerTest::ExpectOnlyTheFourthToFail(ModelRunner& runner, const std::shared_ptr<void>& fourth,
                                                const std::function<void()>& before_ten) {
  auto pictures = Pictures(runner.info(), 10);
  const auto good = RunAll(runner, pictures);
  if (fourth != nullptr) pictures[3] = fourth;
  before_ten();
  const auto mixed = RunAll(runner, pictures);
  EXPECT_FALSE(mixed[3].status.ok());
  EXPECT_FALSE(mixed[3].status.message().empty());
  EXPECT_EQ(mixed[3].outputs, nullptr);
  for (size_t i = 0; i < mixed.size(); ++i) {
    if (i == 3) continue;
    ASSERT_TRUE(mixed[i].status.ok()) << i << ": " << mixed[i].status.message();
    const auto one = good[i].outputs->tensor(0), other = mixed[i].outputs->tensor(0);
    EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size()), 0) << i;
  }
  EXPECT_EQ(runner.stats().failures, 1u);
}

TEST_F(ModelRunnerTest, HostMemoryForAnInputFailsItsRequestAlone) {
  const auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  const std::shared_ptr<void> host(std::malloc(runner->info().input.bytes), std::free);
  ExpectOnlyTheFourthToFail(*runner, host, [] {});
}

TEST_F(ModelRunnerTest, ARunThatCannotBeginFailsItsRequestAlone) {
  const auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  ExpectOnlyTheFourthToFail(*runner, nullptr, [] { LetFail(AclCall::kExecuteAsync, 3, ACL_ERROR_RT_MODEL_EXECUTE); });
}

TEST_F(ModelRunnerTest, ARunThatBreaksOffFailsItsRequestAlone) {
  const auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  ExpectOnlyTheFourthToFail(*runner, nullptr,
                            [] { LetFail(AclCall::kSynchronizeEvent, 3, ACL_ERROR_RT_AICORE_EXCEPTION); });
}

TEST_F(ModelRunnerTest, OutputsOutliveTheRunner) {
  auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  auto responses = RunAll(*runner, Pictures(runner->info(), 1));
  ASSERT_TRUE(responses[0].status.ok());
  runner.reset();
  const auto scores = responses[0].outputs->tensor(0);
  for (size_t i = 0; i < scores.size(); i += sizeof(float)) {
    float score = -1;
    std::memcpy(&score, scores.data() + i, sizeof(score));
    ASSERT_TRUE(score >= 0 && score <= 1) << "a sigmoid's value";
  }
}

TEST_F(ModelRunnerTest, WhatStillWaitsAtTheEndIsRefused) {
  FakeClock clock;  // does not move: a batch that is not full waits for ever
  auto runner = Create(Options(8, kHourMs), clock);
  ASSERT_NE(runner, nullptr);
  Responses responses;
  const auto picture = Picture(runner->info(), 0);
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(runner->Submit(RequestOf(picture, responses.Slot(i))).ok());
  runner.reset();
  for (const InferenceResponse& response : responses.Await(3)) {
    EXPECT_EQ(response.status.code(), StatusCode::kUnavailable);
  }
  EXPECT_EQ(picture.use_count(), 1) << "the inputs were let go";
}

TEST_F(ModelRunnerTest, ATimeoutLetsAPartOfABatchGo) {
  FakeClock clock;
  const auto runner = Create(Options(8, 5), clock);
  ASSERT_NE(runner, nullptr);
  Responses responses;
  const auto picture = Picture(runner->info(), 0);
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(runner->Submit(RequestOf(picture, responses.Slot(i))).ok());
  clock.AdvanceNs(5'000'000);
  const auto answered = responses.Await(2);
  EXPECT_EQ(answered[0].batch, 2);
  EXPECT_EQ(answered[0].queue_wait_ns, 5'000'000);
}

TEST_F(ModelRunnerTest, AFullQueueHoldsTheCallerBack) {
  RunnerOptions options = Options(2);
  options.queue_size = 1;
  const auto runner = Create(options);
  ASSERT_NE(runner, nullptr);
  const auto picture = Picture(runner->info(), 0);
  EXPECT_EQ(RunAll(*runner, std::vector<std::shared_ptr<void>>(12, picture)).size(), 12u);
}

// A runner whose requests wait, as the clock that would let a part of a batch go stands still.
RunnerOptions Holding(RunnerOptions options, QueuePolicy policy) {
  options.queue_size = 2;
  options.queue_policy = policy;
  return options;
}

TEST_F(ModelRunnerTest, AFullQueueCanPushOutTheSourcesOldest) {
  FakeClock clock;
  auto runner = Create(Holding(Options(8, kHourMs), QueuePolicy::kDropOldest), clock);
  ASSERT_NE(runner, nullptr);
  Responses responses;
  const auto picture = Picture(runner->info(), 0);
  for (size_t i = 0; i < 4; ++i) {
    InferenceRequest request = RequestOf(picture, responses.Slot(i));
    request.source = i == 3 ? 2 : 1;
    ASSERT_TRUE(runner->Submit(std::move(request)).ok());
  }
  EXPECT_EQ(responses.Await(1)[0].status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(responses.order(), ElementsAre(0)) << "another source's request pushes nothing of this one out";
  EXPECT_EQ(runner->stats().sources[1].dropped_full, 1u);
  EXPECT_EQ(runner->stats().sources[2].dropped_full, 0u);
  runner.reset();
  responses.Await(4);
}

TEST_F(ModelRunnerTest, AFullQueueCanRefuse) {
  FakeClock clock;
  auto runner = Create(Holding(Options(8, kHourMs), QueuePolicy::kFail), clock);
  ASSERT_NE(runner, nullptr);
  Responses responses;
  const auto picture = Picture(runner->info(), 0);
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(runner->Submit(RequestOf(picture, responses.Slot(i))).ok());
  const InferenceResponse refused = responses.Await(1)[2];
  EXPECT_EQ(refused.status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.dropped, DropReason::kQueueFull);
  EXPECT_EQ(runner->stats().sources[0].dropped_full, 1u);
  runner.reset();
  responses.Await(3);
}

TEST_F(ModelRunnerTest, WhatIsPastItsDeadlineDoesNotRun) {
  FakeClock clock(1000);
  auto runner = Create(Options(2, kHourMs), clock);
  ASSERT_NE(runner, nullptr);
  Responses responses;
  const auto picture = Picture(runner->info(), 0);
  InferenceRequest late = RequestOf(picture, responses.Slot(0));
  late.deadline_ns = 2000;
  ASSERT_TRUE(runner->Submit(std::move(late)).ok());
  clock.AdvanceNs(1000);
  for (size_t i = 1; i < 3; ++i) ASSERT_TRUE(runner->Submit(RequestOf(picture, responses.Slot(i))).ok());
  const auto answered = responses.Await(3);
  EXPECT_EQ(answered[0].status.code(), StatusCode::kTimeout);
  EXPECT_EQ(answered[0].dropped, DropReason::kDeadline);
  EXPECT_EQ(answered[1].dropped, std::nullopt);
  EXPECT_EQ(answered[1].batch, 2);
  EXPECT_TRUE(answered[2].status.ok());
  const SourceStats stats = runner->stats().sources[0];
  EXPECT_EQ(stats.expired, 1u);
  EXPECT_EQ(stats.ran, 2u);
}

TEST_F(ModelRunnerTest, AcquireSharesByModelAndInstance) {
  auto first = ModelRunner::Acquire(Options(4));
  auto second = ModelRunner::Acquire(Options(4));
  auto other = ModelRunner::Acquire(Options(4), "other");
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(first->get(), second->get());
  EXPECT_NE(first->get(), other->get());
  const std::weak_ptr<ModelRunner> watch = *first;
  first = Status(StatusCode::kUnavailable, "let go");
  EXPECT_FALSE(watch.expired());
  second = Status(StatusCode::kUnavailable, "let go");
  EXPECT_TRUE(watch.expired()) << "nobody holds it any more";
}

TEST_F(ModelRunnerTest, WrongRequestsAndOptionsAreRefused) {
  const auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(runner->Submit({}).code(), StatusCode::kInvalidArgument);
  for (int RunnerOptions::*option : {&RunnerOptions::batch_size, &RunnerOptions::queue_size, &RunnerOptions::depth}) {
    RunnerOptions options = Options(1);
    options.*option = 0;
    EXPECT_EQ(ModelRunner::Create(options).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(ModelRunnerTest, FilesThatAreNoOmGetASentence) {
  const testing_support::TemporaryFolder folder;
  RunnerOptions options;
  for (const char* content : {"", "GGUF....", "some text"}) {
    options.om = folder / "x.om";
    ASSERT_TRUE(WriteFileAtomically(options.om, std::string_view(content)).ok());
    const auto runner = ModelRunner::Create(options);
    ASSERT_FALSE(runner.ok());
    EXPECT_THAT(runner.status().message(), HasSubstr(options.om.string()));
  }
  options.om = folder / "none.om";
  EXPECT_EQ(ModelRunner::Create(options).status().code(), StatusCode::kNotFound);
}

TEST_F(ModelRunnerTest, LeavesTheCallersContextAlone) {
  aclrtContext before = nullptr, after = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  const auto runner = Create(Options(1));
  ASSERT_NE(runner, nullptr);
  RunAll(*runner, Pictures(runner->info(), 1));
  ASSERT_EQ(aclrtGetCurrentContext(&after), ACL_SUCCESS);
  EXPECT_EQ(before, after);
}

TEST_F(ModelRunnerTest, AnOpenPictureSizeIsRefusedInOneSentence) {
  for (const bool by_image_size : {true, false}) {
    RunnerOptions options = Options(1);
    options.om = acl_test::WriteReluOfGears(by_image_size);
    const auto runner = ModelRunner::Create(options);
    ASSERT_FALSE(runner.ok());
    EXPECT_EQ(runner.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(runner.status().message(), HasSubstr(options.om.string()));
    EXPECT_THAT(runner.status().message(), HasSubstr(by_image_size ? "--dynamic_image_size" : "--dynamic_dims"));
  }
}

TEST(AclSessionTest, IsNotEndedWhileSomebodyHoldsIt) {
  const auto session = AclSession::Acquire();
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(AclSession::Finalize().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace npustream::serving
