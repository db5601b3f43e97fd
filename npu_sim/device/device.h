#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "npu_sim/device/memory.h"
#include "npu_sim/device/soc_profile.h"
#include "npu_sim/device/stream.h"

namespace npustream::device {

// Bytes moved since the process began, by direction.
struct CopyCounters {
  uint64_t host_to_device = 0;
  uint64_t device_to_host = 0;
  uint64_t device_to_device = 0;
};

enum class CopyDirection { kHostToDevice, kDeviceToHost, kDeviceToDevice };

// One simulated NPU. Created by Get on first use and kept until the process ends. Thread-safe.
class Device {
 public:
  static constexpr int kMaxDevices = 16;
  static constexpr int kMaxStreams = 2048;

  // kInvalidArgument for an id which does not exist, or when NPU_SIM_SOC names no chip.
  static Result<Device*> Get(int id);
  // NPU_SIM_DEVICES, default 1.
  static int Count();
  // The open device in whose reserved range `address` lies; null when there is none.
  static Device* Owning(const void* address);
  // The chip of this process: NPU_SIM_SOC, default Ascend310P3.
  static Result<SocProfile> Soc();
  // Host memory for copies without detours, as aclrtMallocHost hands it out. Shared by all devices.
  static Result<Memory*> PinnedHostMemory();
  // True when device memory and host memory are one, as on boards: NPU_SIM_RUN_MODE=device.
  static bool SharesHostMemory();

  virtual ~Device() = default;
  virtual int id() const = 0;
  virtual const SocProfile& soc() const = 0;
  virtual Memory& memory() = 0;
  // Worker threads that stand for AI cores: the process's thread budget when the device was opened.
  virtual int AiCoreCount() const = 0;
  // kResourceExhausted when there are kMaxStreams already.
  virtual Result<std::unique_ptr<Stream>> CreateStream() = 0;
  virtual int StreamCount() const = 0;
  virtual std::shared_ptr<Event> CreateEvent() = 0;
  virtual void CountCopy(CopyDirection direction, uint64_t bytes) = 0;
  virtual CopyCounters counters() const = 0;
};

}  // namespace npustream::device
