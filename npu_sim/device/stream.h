#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"

namespace npustream::device {

// Who does a task's work.
enum class Engine {
  kAiCore,  // worker threads, as many as the thread budget
  kDma,     // copies
  kMedia,   // VPC, JPEG, PNG
  kHost,    // callbacks on an internal thread
};

// A FIFO of tasks. Has no thread: the device's scheduler hands the head to its engine once the task before it is done
// and its events have happened. The first failure stays with the stream until it is read by Synchronize. Thread-safe.
class Stream {
 public:
  virtual ~Stream() = default;

  // Appends work that runs to its end on one thread of `engine`. kResourceExhausted when the stream's bound is reached.
  virtual Status Submit(Engine engine, std::function<Status()> work) = 0;
  // Appends `parts` pieces of work that may run at the same time on different AI cores; the task is done when all
  // are. `work(part, core)` is called with 0 ≤ core < AiCoreCount() and never with one core from two threads at once.
  virtual Status SubmitParts(int parts, std::function<Status(int part, int core)> work) = 0;
  // Waits until everything submitted so far is done; returns and clears the first failure. timeout_ms −1: for ever.
  virtual Status Synchronize(int timeout_ms = -1) = 0;
  // True when nothing is waiting or running.
  virtual bool Idle() const = 0;
};

}  // namespace npustream::device
