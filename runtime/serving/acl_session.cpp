#include "runtime/serving/acl_session.h"

#include <acl/acl.h>

#include "base/mutex.h"
#include "runtime/serving/acl_status.h"

namespace npustream::serving {
namespace {

struct ProcessState {
  Mutex mutex;
  std::weak_ptr<AclSession> session NPUSTREAM_GUARDED_BY(mutex);
  bool ours NPUSTREAM_GUARDED_BY(mutex) = false;  // aclInit was called by us, so aclFinalize is our duty
};

// Never destroyed: threads of elements may still hold sessions while static objects go.
ProcessState& State() {
  static auto& state = *new ProcessState;
  return state;
}

}  // namespace

Result<std::shared_ptr<AclSession>> AclSession::Acquire() {
  ProcessState& state = State();
  MutexLock lock(state.mutex);
  if (auto session = state.session.lock()) return session;
  // Running already is what is wanted: it was our earlier call, or the application's own.
  const aclError error = aclInit(nullptr);
  if (error != ACL_ERROR_REPEAT_INITIALIZE) NPUSTREAM_RETURN_IF_ACL_ERROR(error, "starting AscendCL");
  if (error == ACL_SUCCESS) state.ours = true;
  std::shared_ptr<AclSession> session(new AclSession);
  state.session = session;
  return session;
}

Status AclSession::Finalize() {
  ProcessState& state = State();
  MutexLock lock(state.mutex);
  if (!state.session.expired()) {
    return Status(StatusCode::kFailedPrecondition, "AscendCL is still in use and cannot be ended");
  }
  if (!state.ours) return {};
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclFinalize(), "ending AscendCL");
  state.ours = false;
  return {};
}

std::string SocName() {
  const auto session = AclSession::Acquire();
  const char* name = session.ok() ? aclrtGetSocName() : nullptr;
  return name != nullptr && *name != '\0' ? name : "Ascend310P3";
}

size_t AiCoreCount(int device_id) {
  int64_t cores = 0;
  const auto session = AclSession::Acquire();
  const bool known = session.ok() && device_id >= 0 &&
                     aclGetDeviceCapability(static_cast<uint32_t>(device_id), ACL_DEVICE_INFO_AI_CORE_NUM, &cores) ==
                         ACL_SUCCESS;
  return known && cores > 1 ? static_cast<size_t>(cores) : 1;
}

}  // namespace npustream::serving
