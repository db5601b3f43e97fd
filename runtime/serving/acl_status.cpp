#include "runtime/serving/acl_status.h"

#include <fmt/format.h>

namespace npustream::serving {
namespace {

StatusCode CodeOf(aclError error) {
  switch (error) {
    case ACL_ERROR_INVALID_PARAM:
    case ACL_ERROR_RT_PARAM_INVALID:
    case ACL_ERROR_RT_INVALID_DEVICEID:
    case ACL_ERROR_GE_PARAM_INVALID: return StatusCode::kInvalidArgument;
    case ACL_ERROR_INVALID_FILE:
    case ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID: return StatusCode::kNotFound;
    case ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID:
    case ACL_ERROR_GE_LOAD_MODEL: return StatusCode::kCorruptData;
    case ACL_ERROR_UNINITIALIZE:
    case ACL_ERROR_RT_CONTEXT_NULL: return StatusCode::kFailedPrecondition;
    case ACL_ERROR_BAD_ALLOC:
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
    case ACL_ERROR_GE_MEMORY_ALLOCATION:
    case ACL_ERROR_RT_NO_STREAM_RESOURCE:
    case ACL_ERROR_RT_NO_EVENT_RESOURCE: return StatusCode::kResourceExhausted;
    case ACL_ERROR_API_NOT_SUPPORT:
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT: return StatusCode::kUnsupported;
    case ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:
    case ACL_ERROR_RT_EVENT_SYNC_TIMEOUT: return StatusCode::kTimeout;
    default: return StatusCode::kInternal;
  }
}

}  // namespace

Status AclStatus(aclError error, std::string_view action) {
  if (error == ACL_SUCCESS) return {};
  const char* sentence = aclGetRecentErrMsg();
  if (sentence == nullptr || *sentence == '\0') {
    return Status(CodeOf(error), fmt::format("{} failed with AscendCL's code {}", action, error));
  }
  return Status(CodeOf(error), fmt::format("{}: {} ({})", action, sentence, error));
}

}  // namespace npustream::serving
