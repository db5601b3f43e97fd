#include "base/thread_budget.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>

#include "base/log.h"
#include "base/printable.h"

namespace npustream {
namespace {

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

int InitialBudget() {
  const char* text = std::getenv("NPUSTREAM_THREADS");
  if (text == nullptr || *text == '\0') return UsableCpus();
  if (const std::optional<int> wanted = ParseThreadBudget(text)) return *wanted;
  const int usable = UsableCpus();
  Log(LogLevel::kWarning, "base", "NPUSTREAM_THREADS={} is no number from 1 to {}; it counts as {}", Printable(text, 40),
      kMostThreads, usable);
  return usable;
}

std::atomic<int>& Budget() {
  static std::atomic<int> budget = InitialBudget();
  return budget;
}

}  // namespace

std::optional<int> ParseThreadBudget(std::string_view text) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && threads >= 1 && threads <= kMostThreads ? std::optional(threads) : std::nullopt;
}

int ThreadBudget() { return Budget(); }

void SetThreadBudget(int threads) { Budget() = std::max(1, threads); }

}  // namespace npustream
