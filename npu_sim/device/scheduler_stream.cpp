#include <cassert>
#include <limits>

#include <fmt/format.h>

#include "npu_sim/device/scheduler.h"

namespace npustream::device {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

int64_t DeadlineNs(const Clock& clock, int timeout_ms) {
  return timeout_ms < 0 ? std::numeric_limits<int64_t>::max() : clock.NowNs() + timeout_ms * kNsPerMs;
}

// Waits once; false when the deadline has passed.
bool WaitOnce(Clock& clock, CondVar& changed, MutexLock& lock, int64_t deadline_ns) {
  if (deadline_ns == std::numeric_limits<int64_t>::max()) {
    changed.Wait(lock);
    return true;
  }
  if (clock.NowNs() >= deadline_ns) return false;
  clock.WaitUntil(changed, lock, deadline_ns);
  return true;
}

}  // namespace

// The face of a stream; its state lives as long as this, and this waits for its tasks before it goes.
class SchedulerStream : public Stream {
 public:
  SchedulerStream(Scheduler& owner, int id, std::function<void()> on_end) : owner_(owner), on_end_(std::move(on_end)) {
    state_.id = id;
  }

  ~SchedulerStream() override {
    {
      MutexLock lock(owner_.mutex_);
      while (state_.finished != state_.submitted) state_.changed.Wait(lock);
    }
    if (on_end_) on_end_();
  }

  int id() const override { return state_.id; }

  Status Append(Engine engine, int parts, Completion completion, TaskWork work) override {
    if (parts < 1) return Status(StatusCode::kInvalidArgument, "a task needs at least one part");
    MutexLock lock(owner_.mutex_);
    NPUSTREAM_RETURN_IF_ERROR(owner_.WaitForRoom(state_, lock));
    Task* task = owner_.NewTask();
    task->kind = Task::Kind::kWork;
    task->engine = engine;
    task->parts = parts;
    task->deferred = completion == Completion::kByToken;
    task->work = std::move(work);
    owner_.Enqueue(state_, task);
    return {};
  }

  Status Record(const std::shared_ptr<Event>& event) override {
    return AppendEventTask(event, [](Task& task, EventState& state) {
      task.kind = Task::Kind::kRecord;
      task.generation = ++state.issued;
    });
  }

  Status Wait(const std::shared_ptr<Event>& event) override {
    return AppendEventTask(event, [](Task& task, EventState& state) {
      task.kind = Task::Kind::kWait;
      task.generation = state.recorded() ? state.issued : state.issued + 1;
    });
  }

  Status Reset(const std::shared_ptr<Event>& event) override {
    return AppendEventTask(event, [](Task& task, EventState& state) {
      task.kind = Task::Kind::kReset;
      state.floor = state.issued;
    });
  }

  Status Synchronize(int timeout_ms) override {
    const int64_t deadline_ns = DeadlineNs(owner_.clock_, timeout_ms);
    MutexLock lock(owner_.mutex_);
    const uint64_t target = state_.submitted;
    while (state_.finished < target) {
      if (!WaitOnce(owner_.clock_, state_.changed, lock, deadline_ns)) {
        return Status(StatusCode::kTimeout, fmt::format("stream {} was not done within {} ms", state_.id, timeout_ms));
      }
    }
    return std::exchange(state_.failure, Status());
  }

  bool Idle() const override {
    MutexLock lock(owner_.mutex_);
    return state_.finished == state_.submitted;
  }

  void Abort() override {
    MutexLock lock(owner_.mutex_);
    if (state_.tasks.empty()) return;
    TaskQueue<&Task::next> dropped;
    if (state_.tasks.front()->kind == Task::Kind::kWait) {
      StopWaiting(*state_.tasks.front());
      std::swap(dropped, state_.tasks);
      state_.head_active = false;
    } else {  // the head is with an engine and runs to its end
      Task* head = state_.tasks.PopFront();
      std::swap(dropped, state_.tasks);
      state_.tasks.PushBack(head);
    }
    while (!dropped.empty()) Drop(dropped.PopFront(), lock);
    state_.changed.NotifyAll();
  }

 private:
  template <typename Fill>
  Status AppendEventTask(const std::shared_ptr<Event>& event, Fill fill) {
    auto state = std::static_pointer_cast<EventState>(event);
    if (state == nullptr || &state->owner != &owner_) {
      return Status(StatusCode::kInvalidArgument, "the event belongs to another device");
    }
    MutexLock lock(owner_.mutex_);
    NPUSTREAM_RETURN_IF_ERROR(owner_.WaitForRoom(state_, lock));
    Task* task = owner_.NewTask();
    fill(*task, *state);
    task->event = std::move(state);
    owner_.Enqueue(state_, task);
    return {};
  }

  void StopWaiting(Task& waiter) NPUSTREAM_REQUIRES(owner_.mutex_) {
    TaskQueue<&Task::next_ready> others;
    auto& waiters = waiter.event->waiters;
    while (!waiters.empty()) {
      Task* task = waiters.PopFront();
      if (task != &waiter) others.PushBack(task);
    }
    waiters = others;
  }

  // What a task captured may do anything when it is destroyed, so the lock is not held meanwhile.
  void Drop(Task* task, MutexLock& lock) NPUSTREAM_REQUIRES(owner_.mutex_) {
    lock.Unlock();
    task->work.Reset();
    lock.Lock();
    owner_.Recycle(task);
    ++state_.finished;
  }

  Scheduler& owner_;
  const std::function<void()> on_end_;
  StreamState state_;
};

std::unique_ptr<Stream> Scheduler::CreateStream(std::function<void()> on_end) {
  MutexLock lock(mutex_);
  return std::make_unique<SchedulerStream>(*this, next_stream_id_++, std::move(on_end));
}

std::shared_ptr<Event> Scheduler::CreateEvent() { return std::make_shared<EventState>(*this); }

bool EventState::Happened() const {
  MutexLock lock(owner.mutex_);
  return happened_now();
}

bool EventState::Recorded() const {
  MutexLock lock(owner.mutex_);
  return recorded();
}

Status EventState::Synchronize(int timeout_ms) {
  const int64_t deadline_ns = DeadlineNs(owner.clock_, timeout_ms);
  MutexLock lock(owner.mutex_);
  if (!recorded()) return Status(StatusCode::kFailedPrecondition, "the event was never recorded");
  const uint64_t target = issued;
  while (happened < target && !closed) {
    if (!WaitOnce(owner.clock_, changed, lock, deadline_ns)) {
      return Status(StatusCode::kTimeout, fmt::format("the event did not happen within {} ms", timeout_ms));
    }
  }
  return failure;
}

std::optional<int64_t> EventState::TimeNs() const {
  MutexLock lock(owner.mutex_);
  return happened_now() ? std::optional(time_ns) : std::nullopt;
}

void EventState::Close() {
  MutexLock lock(owner.mutex_);
  closed = true;
  changed.NotifyAll();
  if (waiters.empty()) return;
  StreamState& one = *waiters.front()->stream;
  owner.ReleaseWaiters(*this, true,
                       Status(StatusCode::kFailedPrecondition, "an event was destroyed while a stream waited for it"));
  owner.Advance(one);
}

}  // namespace npustream::device
