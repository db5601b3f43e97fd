#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/status.h"
#include "npu_sim/device/inline_function.h"

namespace npustream::device {

// Who does a task's work.
enum class Engine {
  kAiCore,  // worker threads, as many as the thread budget
  kDma,     // copies
  kMedia,   // VPC, JPEG, PNG
  kHost,    // callbacks on an internal thread
};
inline constexpr int kEngineCount = 4;

// A point in the order of streams. Made by Device::CreateEvent; shared, because tasks that are still waiting may
// outlive the handle of the one who made it. Thread-safe.
class Event {
 public:
  virtual ~Event() = default;
  // True when the last Record has happened. False as long as there was none, and after a Reset.
  virtual bool Happened() const = 0;
  // True when a Record was issued since the event was made or reset.
  virtual bool Recorded() const = 0;
  // Waits until the last Record has happened; kFailedPrecondition when there was none. timeout_ms −1: for ever. Gives
  // the failure of a task before that Record as long as nobody had read it by Stream::Synchronize, and leaves it there.
  virtual Status Synchronize(int timeout_ms = -1) = 0;
  // Nanoseconds of the device's clock at which the last Record happened.
  virtual std::optional<int64_t> TimeNs() const = 0;
  // Lets those go which wait for a Record that will never come; their streams get kFailedPrecondition.
  virtual void Close() = 0;
};

// Ends a deferred task. May be copied and used on any thread; Complete must be called exactly once.
class TaskToken {
 public:
  TaskToken() = default;
  void Complete(Status status) const;

 private:
  friend class Scheduler;
  TaskToken(class Scheduler* scheduler, struct Task* task) : scheduler_(scheduler), task_(task) {}
  class Scheduler* scheduler_ = nullptr;
  struct Task* task_ = nullptr;
};

// What a piece of work is told about itself.
struct TaskRun {
  int part = 0;
  int core = 0;  // index of the worker thread within its engine
  TaskToken token;
};

// Work that captures up to this many bytes is handed over without allocating.
inline constexpr size_t kInlineWorkBytes = 96;
using TaskWork = InlineFunction<Status(const TaskRun&), kInlineWorkBytes>;

// A FIFO of tasks. Has no thread: the device's scheduler hands the head to its engine once the task before it is done
// and its events have happened. The first failure stays with the stream until it is read by Synchronize; tasks after
// a failed one run all the same. What a task captured is destroyed before the task counts as done. Thread-safe.
//
// At most kMaxTasks wait in a stream: a thread that submits more is held back until there is room, as by the hardware
// queue of a card; a worker thread of the device is not held back but gets kResourceExhausted.
class Stream {
 public:
  static constexpr int kMaxTasks = 4096;

  // Waits for all tasks.
  virtual ~Stream() = default;

  // Number of the stream in its device, for logs.
  virtual int id() const = 0;

  // Appends work that runs to its end on one thread of `engine`: `work()` returns a Status.
  template <typename Work>
  requires std::is_invocable_r_v < Status, std::decay_t<Work>
  & > Status Submit(Engine engine, Work&& work) {
    return Append(engine, 1, Completion::kByReturning,
                  [work = std::forward<Work>(work)](const TaskRun&) mutable { return Status(work()); });
  }
  // Appends `parts` pieces of work that may run at the same time on different AI cores; the task is done when all
  // are. `work(part, core)` is called with 0 ≤ core < AiCoreCount() and never with one core from two threads at once.
  template <typename Work>
  requires std::is_invocable_r_v < Status, std::decay_t<Work>
  &, int, int > Status SubmitParts(int parts, Work&& work) {
    return Append(
        Engine::kAiCore, parts, Completion::kByReturning,
        [work = std::forward<Work>(work)](const TaskRun& run) mutable { return Status(work(run.part, run.core)); });
  }
  // Appends work that is begun by `work(token)` on a thread of `engine` and is done when somebody calls
  // token.Complete(); until then later tasks of this stream wait, but the engine is free for others.
  template <typename Work>
  requires std::is_invocable_r_v < void, std::decay_t<Work>
  &, TaskToken > Status SubmitDeferred(Engine engine, Work&& work) {
    return Append(engine, 1, Completion::kByToken, [work = std::forward<Work>(work)](const TaskRun& run) mutable {
      work(run.token);
      return Status();
    });
  }

  // The event happens when everything submitted before is done.
  virtual Status Record(const std::shared_ptr<Event>& event) = 0;
  // Later tasks wait for the event's last Record issued before this call or, if there was none, for its first.
  virtual Status Wait(const std::shared_ptr<Event>& event) = 0;
  // The event counts as not recorded from here on.
  virtual Status Reset(const std::shared_ptr<Event>& event) = 0;

  // Waits until everything submitted so far is done; returns and clears the first failure. kTimeout when `timeout_ms`
  // passes, −1: for ever.
  virtual Status Synchronize(int timeout_ms = -1) = 0;
  // True when nothing is waiting or running.
  virtual bool Idle() const = 0;
  // Drops the tasks that have not begun.
  virtual void Abort() = 0;

 protected:
  enum class Completion { kByReturning, kByToken };
  virtual Status Append(Engine engine, int parts, Completion completion, TaskWork work) = 0;
};

}  // namespace npustream::device
