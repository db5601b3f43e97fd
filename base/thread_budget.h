#pragma once

#include <optional>
#include <string_view>

namespace npustream {

inline constexpr int kMostThreads = 1024;

// How many threads of this process may compute at once: AI cores and post-processing share it. The first of
// SetThreadBudget(), the environment variable NPUSTREAM_THREADS and the CPUs which the process may use decides.
// Read when the device is opened; thread-safe. A variable that is no budget is warned of once and left out.
int ThreadBudget();
// Sets the budget; `threads` must be at least 1. Takes effect for devices that are opened afterwards.
void SetThreadBudget(int threads);

// A whole number from 1 to kMostThreads, and nothing beside it.
std::optional<int> ParseThreadBudget(std::string_view text);

}  // namespace npustream
