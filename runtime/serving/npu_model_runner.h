#pragma once

#include <array>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "runtime/serving/batch_slot.h"
#include "runtime/serving/batcher.h"
#include "runtime/serving/device_dispatcher.h"
#include "runtime/serving/loaded_model.h"
#include "runtime/serving/model_runner.h"
#include "runtime/serving/output_pool.h"

namespace npustream::serving {

// The runner: the device's dispatcher puts batches on the stream, a thread of the runner's own waits for them in order
// and answers.
//
// Locks: mutex_, the dispatcher's (queue, slots, numbers), and stream_mutex_ (the stream and what is in flight on it);
// whoever takes both takes stream_mutex_ first. Neither is held over a request's `done`.
class NpuModelRunner : public ModelRunner, private DeviceDispatcher::Client {
 public:
  static Result<std::shared_ptr<ModelRunner>> Create(const RunnerOptions& options, Clock& clock);
  ~NpuModelRunner() override;

  const ModelInfo& info() const override { return info_; }
  Status Submit(InferenceRequest request) override;
  RunnerStats stats() const override;

 private:
  NpuModelRunner(const RunnerOptions& options, Clock& clock);

  // The runner's own thread: loads, answers until the end, unloads.
  void Run(std::promise<Status>& loaded);
  Status Load();
  Status Prepare();
  void StopDispatch();

  std::vector<PendingRequest> TakeExpired() override NPUSTREAM_REQUIRES(mutex_);
  Batch& TakeSlot() override NPUSTREAM_REQUIRES(mutex_);
  void Launch() override;

  void AnswerAll();
  BatchSlot* NextInFlight();
  Status AwaitFront(BatchSlot& slot);
  void RunOthersAgain() NPUSTREAM_REQUIRES(stream_mutex_);
  void Answer(BatchSlot& slot, const Status& status);
  void Count(const std::vector<PendingRequest>& requests, bool failed, int64_t started_ns) NPUSTREAM_REQUIRES(mutex_);

  const RunnerOptions options_;
  Clock& clock_;
  const std::shared_ptr<DeviceDispatcher> dispatcher_;
  ModelInfo info_;  // constant once Create has returned

  std::unique_ptr<LoadedModel> model_;
  std::shared_ptr<OutputPool> outputs_;
  std::vector<std::unique_ptr<BatchSlot>> slots_;
  BatchSlot* leaving_ = nullptr;  // between TakeSlot and Launch, on the dispatcher's thread

  Mutex stream_mutex_;
  CondVar launched_;
  std::deque<BatchSlot*> in_flight_ NPUSTREAM_GUARDED_BY(stream_mutex_);
  bool no_more_ NPUSTREAM_GUARDED_BY(stream_mutex_) = false;

  Mutex& mutex_;
  CondVar room_;  // for callers of Submit
  std::unique_ptr<Batcher> batcher_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<BatchSlot*> free_slots_ NPUSTREAM_GUARDED_BY(mutex_);
  bool closing_ NPUSTREAM_GUARDED_BY(mutex_) = false;

  static constexpr size_t kWaitSamples = 4096;
  RunnerStats stats_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<int64_t> waits_ NPUSTREAM_GUARDED_BY(mutex_);  // a ring
  size_t next_wait_ NPUSTREAM_GUARDED_BY(mutex_) = 0;

  std::thread thread_;
};

}  // namespace npustream::serving
