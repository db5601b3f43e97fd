#include "npu_sim/device/device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_budget.h"
#include "npu_sim/device/scheduler.h"

namespace npustream::device {
namespace {

// What this process may use of the machine: its RAM, or the limit of its control group.
uint64_t MachineMemoryBytes() {
  const auto ram = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  uint64_t limit = ram;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    uint64_t value = 0;
    if (file >> value && value > 0) limit = std::min(limit, value);
  }
  return limit;
}

class SimulatedDevice : public Device {
 public:
  SimulatedDevice(int id, SocProfile soc, std::unique_ptr<Memory> memory)
      : id_(id), soc_(std::move(soc)), memory_(std::move(memory)), scheduler_(ThreadBudget(), Clock::System()) {}

  int id() const override { return id_; }
  const SocProfile& soc() const override { return soc_; }
  Memory& memory() override { return *memory_; }
  int AiCoreCount() const override { return scheduler_.ai_cores(); }
  Result<std::unique_ptr<Stream>> CreateStream() override;
  int StreamCount() const override { return stream_count_; }
  std::shared_ptr<Event> CreateEvent() override { return scheduler_.CreateEvent(); }

  void CountCopy(CopyDirection direction, uint64_t bytes) override {
    copied_[static_cast<size_t>(direction)].fetch_add(bytes, std::memory_order_relaxed);
  }
  CopyCounters counters() const override { return {copied_[0], copied_[1], copied_[2]}; }

 private:
  const int id_;
  const SocProfile soc_;
  const std::unique_ptr<Memory> memory_;
  Scheduler scheduler_;
  std::atomic<int> stream_count_ = 0;
  std::array<std::atomic<uint64_t>, 3> copied_{};
};

Result<std::unique_ptr<Stream>> SimulatedDevice::CreateStream() {
  if (++stream_count_ > kMaxStreams) {
    --stream_count_;
    return Status(StatusCode::kResourceExhausted, fmt::format("device {} has {} streams already", id_, kMaxStreams));
  }
  return scheduler_.CreateStream([this] { --stream_count_; });
}

// The devices that were opened. Never destroyed: worker threads and users' static objects may outlive main().
struct Registry {
  Mutex mutex;
  std::array<std::atomic<SimulatedDevice*>, Device::kMaxDevices> devices{};
};

Registry& Devices() {
  static Registry* registry = new Registry;  // NOLINT: kept until the process ends, see above
  return *registry;
}

Result<std::unique_ptr<SimulatedDevice>> Open(int id) {
  NPUSTREAM_ASSIGN_OR_RETURN(SocProfile soc, Device::Soc());
  const HostAccess access = Device::SharesHostMemory() ? HostAccess::kAllowed : HostAccess::kForbidden;
  NPUSTREAM_ASSIGN_OR_RETURN(auto memory, Memory::Create(std::min(soc.memory_bytes, MachineMemoryBytes()), access));
  return std::make_unique<SimulatedDevice>(id, std::move(soc), std::move(memory));
}

}  // namespace

int Device::Count() {
  static const int count = [] {
    const char* text = std::getenv("NPU_SIM_DEVICES");
    return std::clamp(text == nullptr ? 1 : std::atoi(text), 1, kMaxDevices);
  }();
  return count;
}

Result<SocProfile> Device::Soc() {
  const char* name = std::getenv("NPU_SIM_SOC");
  return FindSocProfile(name == nullptr ? "Ascend310P3" : name);
}

bool Device::SharesHostMemory() {
  static const bool shares = [] {
    const char* mode = std::getenv("NPU_SIM_RUN_MODE");
    return mode != nullptr && std::string_view(mode) == "device";
  }();
  return shares;
}

Result<Memory*> Device::PinnedHostMemory() {
  static Result<Memory*>* pinned = [] {
    auto memory = Memory::Create(MachineMemoryBytes(), HostAccess::kAllowed);
    // Kept until the process ends, as the devices are.
    return memory.ok() ? new Result<Memory*>(std::move(memory).value().release())
                       : new Result<Memory*>(memory.status());
  }();
  return *pinned;
}

Result<Device*> Device::Get(int id) {
  if (id < 0 || id >= Count()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("there is no device {}; this machine has {}", id, Count()));
  }
  Registry& registry = Devices();
  auto& slot = registry.devices[static_cast<size_t>(id)];
  if (SimulatedDevice* device = slot.load(std::memory_order_acquire)) return device;
  MutexLock lock(registry.mutex);
  if (SimulatedDevice* device = slot.load(std::memory_order_acquire)) return device;
  NPUSTREAM_ASSIGN_OR_RETURN(auto device, Open(id));
  slot.store(device.get(), std::memory_order_release);
  return device.release();
}

Device* Device::Owning(const void* address) {
  for (auto& slot : Devices().devices) {
    SimulatedDevice* device = slot.load(std::memory_order_acquire);
    if (device != nullptr && device->memory().Contains(address)) return device;
  }
  return nullptr;
}

}  // namespace npustream::device
