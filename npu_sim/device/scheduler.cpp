#include "npu_sim/device/scheduler.h"

#include <omp.h>

#include <cassert>

#include <fmt/format.h>

namespace npustream::device {
namespace {

thread_local bool t_is_worker = false;

}  // namespace

Scheduler::Scheduler(int ai_cores, Clock& clock) : ai_cores_(ai_cores), clock_(clock) {
  StartWorkers(Engine::kAiCore, ai_cores);
  StartWorkers(Engine::kDma, 1);
  StartWorkers(Engine::kMedia, ai_cores);
  StartWorkers(Engine::kHost, 1);
  // What threads set up for themselves is done before the first task, not during some later one.
  MutexLock lock(mutex_);
  while (started_workers_ < threads_.size()) worker_started_.Wait(lock);
}

Scheduler::~Scheduler() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    for (EngineState& engine : engines_) engine.work_arrived.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Scheduler::StartWorkers(Engine engine, int count) {
  for (int core = 0; core < count; ++core) threads_.emplace_back([this, engine, core] { RunWorker(engine, core); });
}

void Scheduler::RunWorker(Engine engine, int core) {
  // Work is spread over workers; a team of threads inside each of them would only fight for the same CPUs.
  omp_set_num_threads(1);
  t_is_worker = true;
  EngineState& state = engines_[static_cast<size_t>(engine)];
  MutexLock lock(mutex_);
  ++started_workers_;
  worker_started_.NotifyOne();
  while (true) {
    while (state.ready.empty() && !stopping_) state.work_arrived.Wait(lock);
    if (state.ready.empty()) return;
    RunOnePart(state, core, lock);
  }
}

void Scheduler::RunOnePart(EngineState& engine, int core, MutexLock& lock) {
  Task* task = engine.ready.front();
  const int part = task->started++;
  if (task->started == task->parts) engine.ready.PopFront();

  lock.Unlock();
  Status status = task->work(TaskRun{part, core, TaskToken(this, task)});
  lock.Lock();

  FinishPart(task, std::move(status), lock);
}

void Scheduler::FinishPart(Task* task, Status status, MutexLock& lock) {
  if (!status.ok() && task->status.ok()) task->status = std::move(status);
  if (--task->unfinished == 0) FinishWork(task, lock);
}

// `task` is the head of its stream and nobody else touches it any more.
void Scheduler::FinishWork(Task* task, MutexLock& lock) {
  StreamState& stream = *task->stream;
  lock.Unlock();
  task->work.Reset();
  lock.Lock();
  PopHead(stream, std::move(task->status));
  Advance(stream);
}

void TaskToken::Complete(Status status) const {
  assert(scheduler_ != nullptr);
  MutexLock lock(scheduler_->mutex_);
  scheduler_->FinishPart(task_, std::move(status), lock);
}

Task* Scheduler::NewTask() {
  if (unused_ == nullptr) {
    tasks_.push_back(std::make_unique<Task>());
    return tasks_.back().get();
  }
  Task* task = unused_;
  unused_ = task->next;
  task->next = nullptr;
  return task;
}

void Scheduler::Recycle(Task* task) {
  task->work.Reset();
  task->event.reset();
  task->status = Status();
  task->stream = nullptr;
  task->next = unused_;
  unused_ = task;
}

Status Scheduler::WaitForRoom(StreamState& stream, MutexLock& lock) {
  while (stream.submitted - stream.finished >= Stream::kMaxTasks) {
    if (t_is_worker) {
      return Status(StatusCode::kResourceExhausted,
                    fmt::format("stream {} holds {} tasks already", stream.id, Stream::kMaxTasks));
    }
    stream.changed.Wait(lock);
  }
  return {};
}

void Scheduler::Enqueue(StreamState& stream, Task* task) {
  task->stream = &stream;
  stream.tasks.PushBack(task);
  ++stream.submitted;
  Advance(stream);
}

void Scheduler::MarkForAdvance(StreamState& stream) {
  if (stream.to_be_advanced) return;
  stream.to_be_advanced = true;
  stream.next_to_advance = first_to_advance_;
  first_to_advance_ = &stream;
}

// A list instead of recursion: an event may set free a long chain of streams.
void Scheduler::Advance(StreamState& stream) {
  MarkForAdvance(stream);
  while (first_to_advance_ != nullptr) {
    StreamState& next = *first_to_advance_;
    first_to_advance_ = next.next_to_advance;
    next.to_be_advanced = false;
    while (!next.head_active && !next.tasks.empty()) StartHead(next);
  }
}

// Hands the head to an engine, or does it at once if it is about an event.
void Scheduler::StartHead(StreamState& stream) {
  Task* task = stream.tasks.front();
  stream.head_active = true;
  switch (task->kind) {
    case Task::Kind::kWork: HandToEngine(task); return;
    case Task::Kind::kRecord:
      if (task->generation > task->event->happened) {
        task->event->happened = task->generation;
        task->event->time_ns = clock_.NowNs();
        task->event->failure = stream.failure;
      }
      task->event->changed.NotifyAll();
      ReleaseWaiters(*task->event, false, Status());
      PopHead(stream, Status());
      return;
    case Task::Kind::kWait:
      if (task->event->happened < task->generation && !task->event->closed) {
        task->event->waiters.PushBack(task);
        return;
      }
      PopHead(stream, Status());
      return;
    case Task::Kind::kReset: PopHead(stream, Status()); return;
  }
}

void Scheduler::HandToEngine(Task* task) {
  EngineState& engine = engines_[static_cast<size_t>(task->engine)];
  task->started = 0;
  task->unfinished = task->parts + (task->deferred ? 1 : 0);  // the token is waited for as well
  engine.ready.PushBack(task);
  if (task->parts == 1) {
    engine.work_arrived.NotifyOne();
  } else {
    engine.work_arrived.NotifyAll();
  }
}

void Scheduler::PopHead(StreamState& stream, Status status) {
  if (!status.ok() && stream.failure.ok()) stream.failure = std::move(status);
  Recycle(stream.tasks.PopFront());
  stream.head_active = false;
  ++stream.finished;
  stream.changed.NotifyAll();
}

// Lets the streams go on whose wait is over, or all of them with `status`.
void Scheduler::ReleaseWaiters(EventState& event, bool all, const Status& status) {
  TaskQueue<&Task::next_ready> still_waiting;
  while (!event.waiters.empty()) {
    Task* waiter = event.waiters.PopFront();
    if (!all && waiter->generation > event.happened) {
      still_waiting.PushBack(waiter);
      continue;
    }
    StreamState& stream = *waiter->stream;
    PopHead(stream, status);
    MarkForAdvance(stream);
  }
  event.waiters = still_waiting;
}

}  // namespace npustream::device
