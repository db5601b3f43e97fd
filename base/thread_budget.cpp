#include "base/thread_budget.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace npustream {
namespace {

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

int InitialBudget() {
  if (const char* text = std::getenv("NPUSTREAM_THREADS")) {
    const int wanted = std::atoi(text);
    if (wanted >= 1) return wanted;
  }
  return UsableCpus();
}

std::atomic<int>& Budget() {
  static std::atomic<int> budget = InitialBudget();
  return budget;
}

}  // namespace

int ThreadBudget() { return Budget(); }

void SetThreadBudget(int threads) { Budget() = std::max(1, threads); }

}  // namespace npustream
