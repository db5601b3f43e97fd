#include "runtime/serving/npu_model_runner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "runtime/serving/acl_status.h"

namespace npustream::serving {
Result<std::shared_ptr<ModelRunner>> NpuModelRunner::Create(const RunnerOptions& options, Clock& clock) {
  if (options.batch_size < 1 || options.batch_timeout_ms < 0 || options.queue_size < 1 || options.depth < 1) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a runner needs batch size {}, queue size {} and depth {} of at least 1 and a timeout of "
                              "at least 0, not {} ms",
                              options.batch_size, options.queue_size, options.depth, options.batch_timeout_ms));
  }
  std::shared_ptr<NpuModelRunner> runner(new NpuModelRunner(options, clock));
  std::promise<Status> loaded;
  std::future<Status> outcome = loaded.get_future();
  runner->thread_ = std::thread([&runner = *runner, loaded = std::move(loaded)]() mutable { runner.Run(loaded); });
  NPUSTREAM_RETURN_IF_ERROR(outcome.get());
  return std::shared_ptr<ModelRunner>(std::move(runner));
}

NpuModelRunner::NpuModelRunner(const RunnerOptions& options, Clock& clock)
    : options_(options),
      clock_(clock),
      dispatcher_(DeviceDispatcher::OfDevice(options.device_id, options.scheduling, clock)),
      mutex_(dispatcher_->mutex()) {}

NpuModelRunner::~NpuModelRunner() {
  StopDispatch();
  if (thread_.joinable()) thread_.join();
}

// Nothing is launched any more; what is in flight is still answered.
void NpuModelRunner::StopDispatch() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    room_.NotifyAll();
  }
  dispatcher_->Remove(*this);
  MutexLock stream_lock(stream_mutex_);
  no_more_ = true;
  launched_.NotifyAll();
}

Status NpuModelRunner::Submit(InferenceRequest request) {
  if (request.device_input == nullptr || !request.done) {
    return Status(StatusCode::kInvalidArgument, "a request needs an input and somebody to answer");
  }
  std::vector<PendingRequest> dropped;
  {
    MutexLock lock(mutex_);
    const uint64_t source = request.source;
    const bool blocks = options_.queue_policy == QueuePolicy::kBlock;
    while (blocks && !closing_ && !batcher_->HasRoom(source)) room_.Wait(lock);
    if (closing_) return Status(StatusCode::kUnavailable, "the model's runner is shutting down");
    const bool full = !batcher_->HasRoom(source);
    if (full) ++stats_.sources[source].dropped_full;
    if (full && options_.queue_policy == QueuePolicy::kFail) {
      dropped.push_back({std::move(request), 0});
    } else {
      if (full) dropped.push_back(*batcher_->DropOldestOf(source));
      batcher_->Push(std::move(request));
      dispatcher_->Wake();
    }
  }
  RefuseAll(dropped, Status(StatusCode::kResourceExhausted, "the model's queue is full"), DropReason::kQueueFull);
  return {};
}

RunnerStats NpuModelRunner::stats() const {
  MutexLock lock(mutex_);
  RunnerStats result = stats_;
  result.queue_wait_ns = waits_;
  return result;
}

void NpuModelRunner::Run(std::promise<Status>& loaded) {
  const Status status = Load();
  // From here on Create may return, and with it the runner be destroyed, which waits for this thread.
  const bool ready = status.ok();
  loaded.set_value(status);
  if (ready) AnswerAll();
  slots_.clear();
  outputs_.reset();
  model_.reset();
}

Status NpuModelRunner::Load() {
  {
    MutexLock lock(dispatcher_->load_mutex());
    NPUSTREAM_ASSIGN_OR_RETURN(model_, LoadedModel::Load(options_.om, options_.device_id));
  }
  info_ = model_->info();
  NPUSTREAM_RETURN_IF_ERROR(Prepare());
  dispatcher_->Add(*this, *batcher_, options_.weight);
  return {};
}

Status NpuModelRunner::Prepare() {
  const int batch_size = static_cast<int>(std::min<int64_t>(options_.batch_size, info_.gears.back()));
  const size_t reserve = static_cast<size_t>(options_.depth) * static_cast<size_t>(batch_size);
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<AclSession> session, AclSession::Acquire());
  outputs_ = std::make_shared<OutputPool>(std::move(session), info_.outputs, reserve);
  for (int i = 0; i < options_.depth; ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<BatchSlot> slot, BatchSlot::Create(*model_));
    slots_.push_back(std::move(slot));
  }

  constexpr int64_t kNsPerMs = 1'000'000;
  MutexLock lock(mutex_);
  for (const auto& slot : slots_) free_slots_.push_back(slot.get());
  batcher_ = std::make_unique<Batcher>(
      BatcherOptions{
          info_.gears, batch_size, options_.batch_timeout_ms * kNsPerMs, options_.queue_size, options_.depth, {}},
      clock_);
  stats_.batches_by_size.assign(static_cast<size_t>(batch_size) + 1, 0);
  waits_.reserve(kWaitSamples);
  return {};
}

std::vector<PendingRequest> NpuModelRunner::TakeExpired() {
  std::vector<PendingRequest> expired = batcher_->TakeExpired();
  for (const PendingRequest& pending : expired) ++stats_.sources[pending.request.source].expired;
  if (!expired.empty()) room_.NotifyAll();
  return expired;
}

Batch& NpuModelRunner::TakeSlot() {
  leaving_ = free_slots_.back();
  free_slots_.pop_back();
  room_.NotifyAll();
  return leaving_->batch;
}

void NpuModelRunner::Launch() {
  BatchSlot& slot = *leaving_;
  slot.started_ns = clock_.NowNs();
  slot.launch_status = model_->MakeCurrent();
  if (slot.launch_status.ok()) slot.launch_status = slot.Prepare(*outputs_);
  MutexLock stream_lock(stream_mutex_);
  if (slot.launch_status.ok()) slot.launch_status = slot.Enqueue();
  in_flight_.push_back(&slot);
  launched_.NotifyOne();
}

void NpuModelRunner::AnswerAll() {
  while (BatchSlot* slot = NextInFlight()) {
    // Before every batch: whoever is answered, or lets go of a picture, may enter a context of its own on this thread.
    const Status entered = model_->MakeCurrent();
    if (!entered.ok()) Log(LogLevel::kError, "serving", "{}", entered.message());
    const Status status = AwaitFront(*slot);
    Answer(*slot, status);
  }
  std::vector<PendingRequest> waiting;
  {
    MutexLock lock(mutex_);
    waiting = batcher_->TakeAll();
  }
  RefuseAll(waiting, Status(StatusCode::kUnavailable, "the model's runner was shut down"));
}

// The oldest batch in flight, which stays in the list while it is waited for; null at the end.
BatchSlot* NpuModelRunner::NextInFlight() {
  MutexLock stream_lock(stream_mutex_);
  while (in_flight_.empty() && !no_more_) launched_.Wait(stream_lock);
  return in_flight_.empty() ? nullptr : in_flight_.front();
}

// A failure stays with the stream until somebody synchronises it. So that it is not taken for one of the batches
// behind, the stream is then brought to rest and those batches are put on it once more.
Status NpuModelRunner::AwaitFront(BatchSlot& slot) {
  Status status = slot.launch_status.ok() ? slot.Wait() : slot.launch_status;
  MutexLock stream_lock(stream_mutex_);
  in_flight_.pop_front();
  if (status.ok() && !in_flight_.empty()) return status;
  // Nothing else is in flight, so this returns at once; a runtime that keeps failures from events tells them here.
  Status rest = AclStatus(aclrtSynchronizeStream(model_->stream()), "running the model");
  if (status.ok()) return rest;
  RunOthersAgain();
  return rest.ok() ? status : rest;
}

void NpuModelRunner::RunOthersAgain() {
  for (BatchSlot* other : in_flight_) {
    if (other->launch_status.ok()) other->launch_status = other->Enqueue();
  }
}

// The slot is free before its requests are answered, so that the device does not wait for them.
void NpuModelRunner::Answer(BatchSlot& slot, const Status& status) {
  std::vector<PendingRequest> requests;
  std::vector<std::shared_ptr<HostOutputs>> outputs;
  requests.swap(slot.batch.requests);
  outputs.swap(slot.outputs);
  const int64_t started_ns = slot.started_ns;
  {
    MutexLock lock(mutex_);
    Count(requests, !status.ok(), started_ns);
    batcher_->Finish(requests.size());
    free_slots_.push_back(&slot);
    dispatcher_->Wake();
  }
  const int64_t now_ns = clock_.NowNs();
  for (size_t i = 0; i < requests.size(); ++i) {
    InferenceResponse response{status, nullptr, static_cast<int>(requests.size()),
                               started_ns - requests[i].submitted_ns, now_ns - started_ns};
    if (status.ok()) response.outputs = std::move(outputs[i]);
    requests[i].request.done(std::move(response));
  }
}

void NpuModelRunner::Count(const std::vector<PendingRequest>& requests, bool failed, int64_t started_ns) {
  stats_.requests += requests.size();
  for (const PendingRequest& pending : requests) ++stats_.sources[pending.request.source].ran;
  if (failed) stats_.failures += requests.size();
  ++stats_.batches;
  ++stats_.batches_by_size[requests.size()];
  for (const PendingRequest& pending : requests) {
    const int64_t wait_ns = started_ns - pending.submitted_ns;
    if (waits_.size() < kWaitSamples) {
      waits_.push_back(wait_ns);
    } else {
      waits_[next_wait_++ % kWaitSamples] = wait_ns;
    }
  }
}

}  // namespace npustream::serving
