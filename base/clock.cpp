#include "base/clock.h"

#include <algorithm>
#include <chrono>

namespace npustream {
namespace {

class SystemClock : public Clock {
 public:
  int64_t NowNs() const override {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  int64_t UtcNs() const override {
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  void WaitUntil(CondVar& condition, MutexLock& lock, int64_t deadline_ns) override {
    condition.WaitFor(lock, std::chrono::nanoseconds(std::max<int64_t>(0, deadline_ns - NowNs())));
  }
};

}  // namespace

Clock& Clock::System() {
  static SystemClock clock;
  return clock;
}

int64_t FakeClock::NowNs() const {
  MutexLock lock(mutex_);
  return now_ns_;
}

void FakeClock::WaitUntil(CondVar& condition, MutexLock& lock, int64_t deadline_ns) {
  // Polling keeps the fake free of a list of waiters: the caller looks at the time again after every wake-up.
  if (NowNs() < deadline_ns) condition.WaitFor(lock, std::chrono::milliseconds(1));
}

void FakeClock::AdvanceNs(int64_t step_ns) {
  MutexLock lock(mutex_);
  now_ns_ += step_ns;
}

}  // namespace npustream
