#pragma once

namespace npustream {

// How many threads of this process may compute at once: AI cores and post-processing share it. The first of
// SetThreadBudget(), the environment variable NPUSTREAM_THREADS and the CPUs which the process may use decides.
// Read when the device is opened; thread-safe.
int ThreadBudget();
// Sets the budget; `threads` must be at least 1. Takes effect for devices that are opened afterwards.
void SetThreadBudget(int threads);

}  // namespace npustream
