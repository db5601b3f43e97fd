#pragma once

#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace npustream {

// Where time comes from. Passed in by whoever creates a part that looks at the time, so that tests never sleep.
class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds of a clock that never goes back; the origin means nothing.
  virtual int64_t NowNs() const = 0;
  // Nanoseconds since 1970-01-01T00:00:00Z.
  virtual int64_t UtcNs() const = 0;
  // Releases `lock` and waits on `condition` until it is notified or NowNs() reaches `deadline_ns`; may wake early.
  virtual void WaitUntil(CondVar& condition, MutexLock& lock, int64_t deadline_ns) = 0;

  // The machine's clocks; one object for the process.
  static Clock& System();
};

// A clock that stands still until a test moves it. Thread-safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(int64_t now_ns = 0) : now_ns_(now_ns) {}
  int64_t NowNs() const override;
  int64_t UtcNs() const override { return NowNs(); }
  void WaitUntil(CondVar& condition, MutexLock& lock, int64_t deadline_ns) override;
  void AdvanceNs(int64_t step_ns);

 private:
  mutable Mutex mutex_;
  int64_t now_ns_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace npustream
