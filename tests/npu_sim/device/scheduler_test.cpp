#include "npu_sim/device/scheduler.h"

#include <omp.h>

#include <atomic>
#include <filesystem>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>

namespace npustream::device {
namespace {

using ::testing::ElementsAre;

Status Ok() { return {}; }

size_t ThreadsOfThisProcess() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

TEST(Scheduler, TasksOfAStreamRunInTheirOrderAcrossEngines) {
  Scheduler scheduler(4, Clock::System());
  const auto stream = scheduler.CreateStream();
  std::vector<int> order;
  for (int index = 0; index < 200; ++index) {
    const Engine engine = static_cast<Engine>(index % kEngineCount);
    ASSERT_TRUE(stream
                    ->Submit(engine,
                             [&order, index] {
                               order.push_back(index);
                               return Ok();
                             })
                    .ok());
  }
  ASSERT_TRUE(stream->Synchronize().ok());
  ASSERT_EQ(order.size(), 200u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Scheduler, StreamsRunBesideEachOther) {
  Scheduler scheduler(2, Clock::System());
  const auto first = scheduler.CreateStream();
  const auto second = scheduler.CreateStream();
  std::latch both_run(2);
  for (Stream* stream : {first.get(), second.get()}) {
    ASSERT_TRUE(stream
                    ->Submit(Engine::kAiCore,
                             [&] {
                               both_run.arrive_and_wait();
                               return Ok();
                             })
                    .ok());
  }
  EXPECT_TRUE(first->Synchronize().ok());
  EXPECT_TRUE(second->Synchronize().ok());
}

TEST(Scheduler, PartsOfATaskRunOnDifferentCoresAtTheSameTime) {
  Scheduler scheduler(3, Clock::System());
  const auto stream = scheduler.CreateStream();
  std::latch all_run(3);
  std::mutex mutex;
  std::set<int> cores;
  std::set<int> parts;
  ASSERT_TRUE(stream
                  ->SubmitParts(3,
                                [&](int part, int core) {
                                  {
                                    std::lock_guard lock(mutex);
                                    cores.insert(core);
                                    parts.insert(part);
                                  }
                                  all_run.arrive_and_wait();
                                  return Ok();
                                })
                  .ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_THAT(cores, ElementsAre(0, 1, 2));
  EXPECT_THAT(parts, ElementsAre(0, 1, 2));
}

TEST(Scheduler, ATaskIsDoneWhenAllOfItsPartsAre) {
  Scheduler scheduler(2, Clock::System());
  const auto stream = scheduler.CreateStream();
  std::atomic<int> parts_run = 0;
  int seen_by_next = 0;
  ASSERT_TRUE(stream
                  ->SubmitParts(64,
                                [&](int, int) {
                                  ++parts_run;
                                  return Ok();
                                })
                  .ok());
  ASSERT_TRUE(stream
                  ->Submit(Engine::kHost,
                           [&] {
                             seen_by_next = parts_run;
                             return Ok();
                           })
                  .ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(seen_by_next, 64);
}

TEST(Scheduler, TheFirstFailureStaysUntilItIsReadAndLaterTasksRun) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  bool later_ran = false;
  ASSERT_TRUE(stream->Submit(Engine::kDma, [] { return Status(StatusCode::kCorruptData, "first"); }).ok());
  ASSERT_TRUE(stream->Submit(Engine::kDma, [] { return Status(StatusCode::kInternal, "second"); }).ok());
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             later_ran = true;
                             return Ok();
                           })
                  .ok());
  const Status failure = stream->Synchronize();
  EXPECT_EQ(failure.code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure.message(), "first");
  EXPECT_TRUE(later_ran);
  EXPECT_TRUE(stream->Synchronize().ok());
}

TEST(Scheduler, AnEventTellsOfAFailureBeforeItAndOfNoneBehindIt) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  const auto before = scheduler.CreateEvent();
  const auto behind = scheduler.CreateEvent();
  const auto afresh = scheduler.CreateEvent();
  ASSERT_TRUE(stream->Record(before).ok());
  ASSERT_TRUE(stream->Submit(Engine::kDma, [] { return Status(StatusCode::kCorruptData, "broken"); }).ok());
  ASSERT_TRUE(stream->Record(behind).ok());
  EXPECT_TRUE(before->Synchronize().ok());
  EXPECT_EQ(behind->Synchronize().message(), "broken");
  EXPECT_EQ(stream->Synchronize().message(), "broken") << "the event has left it there";
  ASSERT_TRUE(stream->Record(afresh).ok());
  EXPECT_TRUE(afresh->Synchronize().ok());
}

TEST(Scheduler, WhatATaskCapturedIsGoneWhenTheTaskIsDone) {
  Scheduler scheduler(2, Clock::System());
  const auto stream = scheduler.CreateStream();
  auto captured = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = captured;
  ASSERT_TRUE(stream->SubmitParts(8, [captured = std::move(captured)](int, int) { return Ok(); }).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_TRUE(watch.expired());
}

TEST(Scheduler, ADeferredTaskHoldsItsStreamButNotItsEngine) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  const auto other = scheduler.CreateStream();
  std::latch begun(1);
  TaskToken held;
  bool later_ran = false;
  ASSERT_TRUE(stream
                  ->SubmitDeferred(Engine::kHost,
                                   [&](TaskToken token) {
                                     held = token;
                                     begun.count_down();
                                   })
                  .ok());
  ASSERT_TRUE(stream
                  ->Submit(Engine::kHost,
                           [&] {
                             later_ran = true;
                             return Ok();
                           })
                  .ok());
  begun.wait();
  ASSERT_TRUE(other->Submit(Engine::kHost, Ok).ok());
  ASSERT_TRUE(other->Synchronize().ok());
  EXPECT_FALSE(later_ran);
  held.Complete(Status(StatusCode::kTimeout, "by token"));
  EXPECT_EQ(stream->Synchronize().code(), StatusCode::kTimeout);
  EXPECT_TRUE(later_ran);
}

TEST(Scheduler, ADeferredTaskMayBeCompletedBeforeItReturns) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  for (int index = 0; index < 100; ++index) {
    ASSERT_TRUE(stream
                    ->SubmitDeferred(Engine::kMedia,
                                     [text = std::make_unique<int>(1)](TaskToken token) {
                                       token.Complete(Status());
                                       *text = 2;
                                     })
                    .ok());
  }
  EXPECT_TRUE(stream->Synchronize().ok());
}

TEST(Scheduler, SynchronizeGivesUpWhenTheTimeoutPasses) {
  FakeClock clock;
  Scheduler scheduler(1, clock);
  const auto stream = scheduler.CreateStream();
  std::latch let_go(1);
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             let_go.wait();
                             return Ok();
                           })
                  .ok());
  std::thread advance([&] { clock.AdvanceNs(5'000'000); });
  EXPECT_EQ(stream->Synchronize(0).code(), StatusCode::kTimeout);
  advance.join();
  EXPECT_FALSE(stream->Idle());
  let_go.count_down();
  EXPECT_TRUE(stream->Synchronize(-1).ok());
  EXPECT_TRUE(stream->Idle());
}

TEST(Scheduler, AWaitHoldsBackOneStreamUntilAnotherHasRecorded) {
  Scheduler scheduler(2, Clock::System());
  const auto producer = scheduler.CreateStream();
  const auto consumer = scheduler.CreateStream();
  const auto event = scheduler.CreateEvent();
  std::latch let_go(1);
  std::vector<std::string> order;
  ASSERT_TRUE(producer
                  ->Submit(Engine::kDma,
                           [&] {
                             let_go.wait();
                             order.push_back("produced");
                             return Ok();
                           })
                  .ok());
  ASSERT_TRUE(producer->Record(event).ok());
  ASSERT_TRUE(consumer->Wait(event).ok());
  ASSERT_TRUE(consumer
                  ->Submit(Engine::kHost,
                           [&] {
                             order.push_back("consumed");
                             return Ok();
                           })
                  .ok());
  EXPECT_FALSE(event->Happened());
  let_go.count_down();
  ASSERT_TRUE(consumer->Synchronize().ok());
  EXPECT_TRUE(event->Happened());
  EXPECT_THAT(order, ElementsAre("produced", "consumed"));
}

TEST(Scheduler, AWaitIsForTheRecordIssuedBeforeItNotForLaterOnes) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  const auto waiting = scheduler.CreateStream();
  const auto event = scheduler.CreateEvent();
  std::latch let_go(1);
  ASSERT_TRUE(stream->Record(event).ok());
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             let_go.wait();
                             return Ok();
                           })
                  .ok());
  ASSERT_TRUE(waiting->Wait(event).ok());
  ASSERT_TRUE(stream->Record(event).ok());
  EXPECT_TRUE(waiting->Synchronize().ok());  // would hang if it waited for the second record
  EXPECT_FALSE(event->Happened());
  let_go.count_down();
  EXPECT_TRUE(event->Synchronize().ok());
  EXPECT_TRUE(stream->Synchronize().ok());
}

TEST(Scheduler, AnEventThatWasResetIsWaitedForAnew) {
  Scheduler scheduler(1, Clock::System());
  const auto producer = scheduler.CreateStream();
  const auto consumer = scheduler.CreateStream();
  const auto event = scheduler.CreateEvent();
  ASSERT_TRUE(producer->Record(event).ok());
  ASSERT_TRUE(consumer->Wait(event).ok());
  ASSERT_TRUE(consumer->Reset(event).ok());
  ASSERT_TRUE(consumer->Wait(event).ok());
  EXPECT_FALSE(consumer->Idle());
  EXPECT_FALSE(event->Recorded());
  ASSERT_TRUE(producer->Record(event).ok());
  EXPECT_TRUE(consumer->Synchronize().ok());
}

TEST(Scheduler, ClosingAnEventLetsItsWaitersGoWithAFailure) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  const auto event = scheduler.CreateEvent();
  ASSERT_TRUE(stream->Wait(event).ok());
  ASSERT_TRUE(stream->Submit(Engine::kHost, Ok).ok());
  event->Close();
  EXPECT_EQ(stream->Synchronize().code(), StatusCode::kFailedPrecondition);
}

TEST(Scheduler, EventsKeepTheTimeAtWhichTheyHappened) {
  FakeClock clock(1000);
  Scheduler scheduler(1, clock);
  const auto stream = scheduler.CreateStream();
  const auto begin = scheduler.CreateEvent();
  const auto end = scheduler.CreateEvent();
  EXPECT_EQ(begin->Synchronize().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(stream->Record(begin).ok());
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             clock.AdvanceNs(2'500'000);
                             return Ok();
                           })
                  .ok());
  ASSERT_TRUE(stream->Record(end).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(*end->TimeNs() - *begin->TimeNs(), 2'500'000);
}

TEST(Scheduler, AbortDropsWhatHasNotBegun) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  std::latch begun(1);
  std::latch let_go(1);
  bool later_ran = false;
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             begun.count_down();
                             let_go.wait();
                             return Ok();
                           })
                  .ok());
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             later_ran = true;
                             return Ok();
                           })
                  .ok());
  begun.wait();
  stream->Abort();
  let_go.count_down();
  EXPECT_TRUE(stream->Synchronize().ok());
  EXPECT_FALSE(later_ran);
}

TEST(Scheduler, AbortEndsAWaitForAnEventThatNeverComes) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  const auto event = scheduler.CreateEvent();
  ASSERT_TRUE(stream->Wait(event).ok());
  ASSERT_TRUE(stream->Submit(Engine::kDma, Ok).ok());
  stream->Abort();
  EXPECT_TRUE(stream->Synchronize().ok());
  EXPECT_TRUE(stream->Idle());
}

TEST(Scheduler, AThreadThatSubmitsTooMuchIsHeldBackUntilThereIsRoom) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  std::latch let_go(1);
  ASSERT_TRUE(stream
                  ->Submit(Engine::kDma,
                           [&] {
                             let_go.wait();
                             return Ok();
                           })
                  .ok());
  for (int index = 1; index < Stream::kMaxTasks; ++index) ASSERT_TRUE(stream->Submit(Engine::kDma, Ok).ok());
  std::atomic<bool> submitted = false;
  std::thread submitter([&] {
    EXPECT_TRUE(stream->Submit(Engine::kDma, Ok).ok());
    submitted = true;
  });
  EXPECT_FALSE(submitted);
  let_go.count_down();
  submitter.join();
  EXPECT_TRUE(stream->Synchronize().ok());
}

TEST(Scheduler, AWorkerThatSubmitsTooMuchIsRefused) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  StatusCode code = StatusCode::kOk;
  ASSERT_TRUE(stream
                  ->Submit(Engine::kHost,
                           [&] {
                             Status status;
                             while (status.ok()) status = stream->Submit(Engine::kDma, Ok);
                             code = status.code();
                             return Ok();
                           })
                  .ok());
  EXPECT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(code, StatusCode::kResourceExhausted);
}

TEST(Scheduler, ThousandsOfStreamsNeedNoThreads) {
  Scheduler scheduler(2, Clock::System());
  const size_t threads = ThreadsOfThisProcess();
  std::vector<std::unique_ptr<Stream>> streams;
  std::atomic<int> done = 0;
  for (int index = 0; index < 2000; ++index) streams.push_back(scheduler.CreateStream());
  for (const auto& stream : streams)
    ASSERT_TRUE(stream
                    ->Submit(Engine::kAiCore,
                             [&] {
                               ++done;
                               return Ok();
                             })
                    .ok());
  EXPECT_EQ(ThreadsOfThisProcess(), threads);
  for (const auto& stream : streams) EXPECT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(done, 2000);
}

TEST(Scheduler, AChainOfEventsThroughThousandsOfStreamsIsFollowed) {
  Scheduler scheduler(1, Clock::System());
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Event>> events;
  for (int index = 0; index < 2000; ++index) {
    streams.push_back(scheduler.CreateStream());
    events.push_back(scheduler.CreateEvent());
  }
  for (size_t index = streams.size() - 1; index > 0; --index) {
    ASSERT_TRUE(streams[index]->Wait(events[index - 1]).ok());
    ASSERT_TRUE(streams[index]->Record(events[index]).ok());
  }
  ASSERT_TRUE(streams[0]->Record(events[0]).ok());
  EXPECT_TRUE(streams.back()->Synchronize().ok());
  EXPECT_TRUE(events.back()->Happened());
}

TEST(Scheduler, WorkersUseOneOpenMpThreadEach) {
  Scheduler scheduler(1, Clock::System());
  const auto stream = scheduler.CreateStream();
  int threads = 0;
  ASSERT_TRUE(stream
                  ->Submit(Engine::kAiCore,
                           [&] {
                             threads = omp_get_max_threads();
                             return Ok();
                           })
                  .ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(threads, 1);
}

}  // namespace
}  // namespace npustream::device
