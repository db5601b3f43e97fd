#include <atomic>
#include <cstdlib>
#include <string>

#include <acl/acl.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "runtime/acl/context.h"
#include "runtime/acl/error.h"

namespace npustream::acl {
namespace {

struct Lifetime {
  Mutex mutex;
  std::atomic<bool> running = false;  // changed under the mutex, read by every call
  bool ended_before NPUSTREAM_GUARDED_BY(mutex) = false;
  int32_t default_device NPUSTREAM_GUARDED_BY(mutex) = -1;
};

Lifetime& OfThisProcess() {
  static auto* lifetime = new Lifetime;  // NOLINT: kept until the process ends; static objects may still use it at exit
  return *lifetime;
}

// {"defaultDevice": {"default_device": "0"}}; the number may be written with or without quotes. −1 when it is absent.
aclError ReadDefaultDevice(const nlohmann::json& config, const char* path, int32_t* device_id) {
  *device_id = -1;
  if (!config.is_object() || !config.contains("defaultDevice")) return ACL_SUCCESS;
  const auto& section = config["defaultDevice"];
  if (!section.is_object() || !section.contains("default_device")) return ACL_SUCCESS;
  const auto& value = section["default_device"];
  const std::string text = value.is_string() ? value.get_ref<const std::string&>() : value.dump();
  char* end = nullptr;
  const long parsed = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || parsed < 0 || parsed >= VisibleDeviceCount()) {
    return Fail(ACL_ERROR_FILE_ATTR_INVALID, "{}: default_device is \"{}\", which is no device of this machine", path,
                text);
  }
  *device_id = static_cast<int32_t>(parsed);
  return ACL_SUCCESS;
}

aclError ReadConfig(const char* path, int32_t* default_device) {
  const auto text = ReadTextFile(path);
  if (!text.ok()) return Fail(ACL_ERROR_INVALID_FILE, text.status().message());
  const auto config = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (config.is_discarded()) return Fail(ACL_ERROR_PARSE_FILE, "{} is not valid JSON", path);
  return ReadDefaultDevice(config, path, default_device);
}

}  // namespace

int32_t DefaultDeviceId() {
  MutexLock lock(OfThisProcess().mutex);
  return OfThisProcess().default_device;
}

bool IsInitialized() { return OfThisProcess().running; }

aclError CheckInitialized() {
  return IsInitialized() ? ACL_SUCCESS
                         : Fail(ACL_ERROR_UNINITIALIZE, "AscendCL is not running: call aclInit first, and nothing "
                                                        "after aclFinalize");
}

}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face

aclError aclInit(const char* configPath) {
  Lifetime& lifetime = OfThisProcess();
  npustream::MutexLock lock(lifetime.mutex);
  if (lifetime.running) return Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before");
  int32_t default_device = -1;
  if (configPath != nullptr && *configPath != '\0') {
    if (const aclError error = ReadConfig(configPath, &default_device); error != ACL_SUCCESS) return error;
  }
  lifetime.running = true;
  lifetime.default_device = default_device;
  return ACL_SUCCESS;
}

aclError aclFinalize() {
  Lifetime& lifetime = OfThisProcess();
  npustream::MutexLock lock(lifetime.mutex);
  if (!lifetime.running && lifetime.ended_before) {
    return Fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize was called before");
  }
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  lifetime.running = false;
  lifetime.ended_before = true;
  lifetime.default_device = -1;
  return ACL_SUCCESS;
}
