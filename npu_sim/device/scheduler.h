#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "npu_sim/device/stream.h"

namespace npustream::device {

struct StreamState;
struct EventState;

// One entry of a stream. Entries are recycled, so that submitting allocates nothing once enough exist.
struct Task {
  enum class Kind { kWork, kRecord, kWait, kReset };
  Kind kind = Kind::kWork;
  Engine engine = Engine::kHost;
  bool deferred = false;
  int parts = 1;
  int started = 0;
  int unfinished = 0;
  TaskWork work;
  Status status;  // the first failure among the parts
  std::shared_ptr<EventState> event;
  uint64_t generation = 0;  // kRecord: which one it is; kWait: which one it waits for
  StreamState* stream = nullptr;
  Task* next = nullptr;        // in the stream, or in the list of unused tasks
  Task* next_ready = nullptr;  // in an engine's queue, or among an event's waiters
};

// A singly linked FIFO through one of the task's own links.
template <Task* Task::*kLink>
class TaskQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  Task* front() const { return head_; }
  void PushBack(Task* task) {
    task->*kLink = nullptr;
    (head_ == nullptr ? head_ : tail_->*kLink) = task;
    tail_ = task;
  }
  Task* PopFront() {
    Task* task = head_;
    head_ = task->*kLink;
    task->*kLink = nullptr;
    return task;
  }

 private:
  Task* head_ = nullptr;
  Task* tail_ = nullptr;
};

struct StreamState {
  int id = 0;
  TaskQueue<&Task::next> tasks;
  uint64_t submitted = 0;
  uint64_t finished = 0;
  bool head_active = false;  // the head is with an engine or waits for an event
  bool to_be_advanced = false;
  StreamState* next_to_advance = nullptr;
  Status failure;
  CondVar changed;
};

// Runs the tasks of any number of streams on a fixed set of threads: `ai_cores` AI cores, as many media workers, one
// DMA engine and one thread for callbacks. One mutex guards all of the state; tasks run without it. The lists of
// streams and events are intrusive, so that nothing here allocates while tasks flow.
class Scheduler {
 public:
  Scheduler(int ai_cores, Clock& clock);
  // All streams must be gone.
  ~Scheduler();

  int ai_cores() const { return ai_cores_; }
  // `on_end` is called when the stream has gone.
  std::unique_ptr<Stream> CreateStream(std::function<void()> on_end = nullptr);
  std::shared_ptr<Event> CreateEvent();

 private:
  friend class SchedulerStream;
  friend struct EventState;
  friend class TaskToken;

  struct EngineState {
    TaskQueue<&Task::next_ready> ready;
    CondVar work_arrived;
  };

  void StartWorkers(Engine engine, int count);
  void RunWorker(Engine engine, int core);
  void RunOnePart(EngineState& engine, int core, MutexLock& lock) NPUSTREAM_REQUIRES(mutex_);

  Task* NewTask() NPUSTREAM_REQUIRES(mutex_);
  void Recycle(Task* task) NPUSTREAM_REQUIRES(mutex_);
  void Enqueue(StreamState& stream, Task* task) NPUSTREAM_REQUIRES(mutex_);
  Status WaitForRoom(StreamState& stream, MutexLock& lock) NPUSTREAM_REQUIRES(mutex_);

  // Starts what can start in `stream` and in every stream that this sets free.
  void Advance(StreamState& stream) NPUSTREAM_REQUIRES(mutex_);
  void MarkForAdvance(StreamState& stream) NPUSTREAM_REQUIRES(mutex_);
  void StartHead(StreamState& stream) NPUSTREAM_REQUIRES(mutex_);
  void HandToEngine(Task* task) NPUSTREAM_REQUIRES(mutex_);
  void PopHead(StreamState& stream, Status status) NPUSTREAM_REQUIRES(mutex_);
  void FinishPart(Task* task, Status status, MutexLock& lock) NPUSTREAM_REQUIRES(mutex_);
  void FinishWork(Task* task, MutexLock& lock) NPUSTREAM_REQUIRES(mutex_);
  void ReleaseWaiters(EventState& event, bool all, const Status& status) NPUSTREAM_REQUIRES(mutex_);

  const int ai_cores_;
  Clock& clock_;
  mutable Mutex mutex_;
  std::array<EngineState, kEngineCount> engines_;
  Task* unused_ NPUSTREAM_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::unique_ptr<Task>> tasks_ NPUSTREAM_GUARDED_BY(mutex_);  // owns every task ever made
  StreamState* first_to_advance_ NPUSTREAM_GUARDED_BY(mutex_) = nullptr;
  int next_stream_id_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  bool stopping_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  size_t started_workers_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  CondVar worker_started_;
  std::vector<std::thread> threads_;
};

// An event of one scheduler. Generations count the Records: one has happened when `happened` has reached it.
struct EventState : Event {
  explicit EventState(Scheduler& scheduler) : owner(scheduler) {}

  bool Happened() const override;
  bool Recorded() const override;
  Status Synchronize(int timeout_ms) override;
  std::optional<int64_t> TimeNs() const override;
  void Close() override;

  // All guarded by the scheduler's mutex.
  bool recorded() const { return issued > floor; }
  bool happened_now() const { return recorded() && happened >= issued; }

  Scheduler& owner;
  uint64_t issued = 0;
  uint64_t happened = 0;
  uint64_t floor = 0;  // Records up to here were reset
  int64_t time_ns = 0;
  Status failure;  // what the stream had not told anybody when the last Record happened
  bool closed = false;
  TaskQueue<&Task::next_ready> waiters;
  CondVar changed;
};

}  // namespace npustream::device
