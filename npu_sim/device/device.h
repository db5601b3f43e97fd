#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "npu_sim/device/memory.h"
#include "npu_sim/device/stream.h"

namespace npustream::device {

// Bytes moved since the process began, by direction.
struct CopyCounters {
  uint64_t host_to_device = 0;
  uint64_t device_to_host = 0;
  uint64_t device_to_device = 0;
};

enum class CopyDirection { kHostToDevice, kDeviceToHost, kDeviceToDevice };

// What the chip is: read from the table of SoC profiles by name ("Ascend310P3").
struct SocProfile {
  std::string name;
  int ai_cores = 0;
  uint64_t memory_bytes = 0;
  uint64_t l2_bytes = 0;
};

// One simulated NPU. Created by Get on first use and kept until the process ends. Thread-safe.
class Device {
 public:
  static constexpr int kMaxDevices = 16;

  // kInvalidArgument for an id which does not exist.
  static Result<Device*> Get(int id);
  // NPU_SIM_DEVICES, default 1.
  static int Count();

  virtual ~Device() = default;
  virtual const SocProfile& soc() const = 0;
  virtual Memory& memory() = 0;
  // Worker threads that stand for AI cores: the process's thread budget when the device was opened.
  virtual int AiCoreCount() const = 0;
  virtual Result<std::unique_ptr<Stream>> CreateStream() = 0;
  virtual void CountCopy(CopyDirection direction, uint64_t bytes) = 0;
  virtual CopyCounters counters() const = 0;
};

}  // namespace npustream::device
