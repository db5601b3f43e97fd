#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <acl/acl.h>

#include "runtime/acl/context.h"
#include "runtime/acl/error.h"

namespace npustream::acl {
namespace {

// A device's default context and how often aclrtSetDevice has asked for it.
struct DefaultOfDevice {
  std::shared_ptr<Context> context;
  int uses = 0;
};

struct Defaults {
  Mutex mutex;  // held while a default context is made, so that there is one
  std::array<DefaultOfDevice, device::Device::kMaxDevices> devices NPUSTREAM_GUARDED_BY(mutex);
};

Defaults& DefaultsOfDevices() {
  static auto* defaults = new Defaults;  // NOLINT: kept until the process ends; static objects may still use it at exit
  return *defaults;
}

// The devices that ASCEND_RT_VISIBLE_DEVICES lets this process see: ascending numbers; the first item that is none, or
// out of order, or does not exist ends the list. All devices when it is not set.
std::vector<int> ParseVisibleDevices() {
  const char* text = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  std::vector<int> visible;
  if (text == nullptr) {
    for (int id = 0; id < device::Device::Count(); ++id) visible.push_back(id);
    return visible;
  }
  std::string_view rest(text);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    int id = -1;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (error != std::errc() || end != item.data() + item.size()) break;
    if (id < 0 || id >= device::Device::Count() || (!visible.empty() && id <= visible.back())) break;
    visible.push_back(id);
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  }
  return visible;
}

const std::vector<int>& VisibleDevices() {
  static const std::vector<int> visible = ParseVisibleDevices();
  return visible;
}

// Makes the default context when it does not exist; the caller holds the lock.
aclError EnsureDefault(int32_t device_id, DefaultOfDevice& entry) {
  return entry.context != nullptr ? ACL_SUCCESS : MakeContext(device_id, true, &entry.context);
}

bool Exists(int32_t device_id) { return IsInitialized() && device_id >= 0 && device_id < VisibleDeviceCount(); }

aclError NoDevice(int32_t device_id) {
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is no device {}; this process sees {}", device_id,
              VisibleDeviceCount());
}

// Gives up one use of the device's default context, all when it is forced; ends it with the last.
aclError Release(int32_t device_id, bool force) {
  if (!Exists(device_id)) return NoDevice(device_id);
  std::shared_ptr<Context> ended;
  {
    Defaults& defaults = DefaultsOfDevices();
    MutexLock lock(defaults.mutex);
    DefaultOfDevice& entry = defaults.devices[static_cast<size_t>(device_id)];
    if (entry.context == nullptr) {
      return Fail(ACL_ERROR_RT_CONTEXT_NULL, "device {} is reset though it was not set", device_id);
    }
    entry.uses = force ? 0 : entry.uses - 1;
    if (entry.uses > 0) return ACL_SUCCESS;
    entry.uses = 0;
    ended = std::exchange(entry.context, nullptr);
  }
  EndContext(ended);
  return ACL_SUCCESS;
}

}  // namespace

int VisibleDeviceCount() { return static_cast<int>(VisibleDevices().size()); }

aclError FindDevice(int32_t device_id, device::Device** device) {
  if (!Exists(device_id)) return NoDevice(device_id);
  const auto found = device::Device::Get(VisibleDevices()[static_cast<size_t>(device_id)]);
  if (!found.ok()) return Fail(ACL_ERROR_RT_INVALID_DEVICEID, found.status().message());
  *device = *found;
  return ACL_SUCCESS;
}

aclError DefaultContext(int32_t device_id, std::shared_ptr<Context>* context) {
  if (!Exists(device_id)) return NoDevice(device_id);
  Defaults& defaults = DefaultsOfDevices();
  MutexLock lock(defaults.mutex);
  DefaultOfDevice& entry = defaults.devices[static_cast<size_t>(device_id)];
  if (const aclError error = EnsureDefault(device_id, entry); error != ACL_SUCCESS) return error;
  *context = entry.context;
  return ACL_SUCCESS;
}

}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::Status;

aclError aclrtSetDevice(int32_t deviceId) {
  if (!Exists(deviceId)) return NoDevice(deviceId);
  Defaults& defaults = DefaultsOfDevices();
  npustream::MutexLock lock(defaults.mutex);
  DefaultOfDevice& entry = defaults.devices[static_cast<size_t>(deviceId)];
  if (const aclError error = EnsureDefault(deviceId, entry); error != ACL_SUCCESS) return error;
  ++entry.uses;
  SetThreadContext(entry.context->handle());
  return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) { return Release(deviceId, false); }
aclError aclrtResetDeviceForce(int32_t deviceId) { return Release(deviceId, true); }

aclError aclrtGetDevice(int32_t* deviceId) {
  if (deviceId == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice was given no place for the id");
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  *deviceId = context->device_id();
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount was given no place for the count");
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  *count = static_cast<uint32_t>(VisibleDeviceCount());
  return ACL_SUCCESS;
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  if (deviceStatus == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryDeviceStatus was given no place for it");
  if (!Exists(deviceId)) return NoDevice(deviceId);
  *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
  return ACL_SUCCESS;
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  if (value == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability was given no place for the value");
  npustream::device::Device* device = nullptr;
  if (const aclError error = FindDevice(static_cast<int32_t>(deviceId), &device); error != ACL_SUCCESS) return error;
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM: *value = device->AiCoreCount(); return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM: *value = device->soc().vector_cores; return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE: *value = static_cast<int64_t>(device->soc().l2_bytes); return ACL_SUCCESS;
    default: return Fail(ACL_ERROR_INVALID_PARAM, "{} is no capability", static_cast<int>(deviceInfo));
  }
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  if (runMode == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode was given no place for the mode");
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  *runMode = npustream::device::Device::SharesHostMemory() ? ACL_DEVICE : ACL_HOST;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeDevice() { return aclrtSynchronizeDeviceWithTimeout(-1); }

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  if (timeout < -1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} ms is no timeout", timeout);
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  const Status status = SynchronizeContext(*context, timeout);
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{} is no task scheduler", static_cast<int>(tsId));
  }
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName() {
  static const std::string name = [] {
    const auto soc = npustream::device::Device::Soc();
    return soc.ok() ? soc->name : std::string();
  }();
  return name.c_str();
}
