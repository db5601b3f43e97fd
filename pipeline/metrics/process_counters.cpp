#include "pipeline/metrics/process_counters.h"

#include <sys/resource.h>

// The vendor's interface has no byte counters: this is the one place above acl.h that asks the simulated chip.
#include "npu_sim/device/device.h"

namespace npustream::pipeline {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessCounters ReadProcessCounters() {
  ProcessCounters counters;
  for (int id = 0; id < device::Device::Count(); ++id) {
    const auto device = device::Device::Get(id);
    if (!device.ok()) continue;
    const device::CopyCounters copied = (*device)->counters();
    counters.copied.host_to_device += copied.host_to_device;
    counters.copied.device_to_host += copied.device_to_host;
    counters.copied.device_to_device += copied.device_to_device;
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) counters.cpu_s = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  return counters;
}

}  // namespace npustream::pipeline
