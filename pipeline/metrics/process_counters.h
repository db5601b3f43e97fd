#pragma once

#include "pipeline/metrics/run_summary.h"

namespace npustream::pipeline {

// Counters since the process began; the difference of two readings belongs to the time between them.
struct ProcessCounters {
  CopiedBytes copied;  // over all devices
  double cpu_s = 0;    // user and system time
};

ProcessCounters ReadProcessCounters();

}  // namespace npustream::pipeline
