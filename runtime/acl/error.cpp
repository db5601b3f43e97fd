#include "runtime/acl/error.h"

#include <acl/acl.h>

#include "base/printable.h"

namespace npustream::acl {
namespace {

struct LastFailure {
  aclError code = ACL_SUCCESS;
  std::string sentence;
  std::string handed_out;  // what aclGetRecentErrMsg gave last must stay valid
};

LastFailure& OfThisThread() {
  thread_local LastFailure last;
  return last;
}

aclError ToRuntimeError(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return ACL_SUCCESS;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kAlreadyExists:
    case StatusCode::kFailedPrecondition: return ACL_ERROR_RT_PARAM_INVALID;
    case StatusCode::kUnsupported: return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    case StatusCode::kResourceExhausted: return ACL_ERROR_RT_MEMORY_ALLOCATION;
    case StatusCode::kTimeout: return ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
    case StatusCode::kCorruptData:
    case StatusCode::kUnavailable:
    case StatusCode::kIoError:
    case StatusCode::kInternal: return ACL_ERROR_RT_INTERNAL_ERROR;
  }
  return ACL_ERROR_RT_INTERNAL_ERROR;
}

uint32_t ToModelError(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return ACL_SUCCESS;
    case StatusCode::kInvalidArgument:
    case StatusCode::kAlreadyExists:
    case StatusCode::kFailedPrecondition: return ACL_ERROR_GE_PARAM_INVALID;
    case StatusCode::kNotFound:
    case StatusCode::kIoError: return ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID;
    case StatusCode::kResourceExhausted: return ACL_ERROR_GE_MEMORY_ALLOCATION;
    case StatusCode::kTimeout: return ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT;
    case StatusCode::kUnsupported:
    case StatusCode::kCorruptData: return ACL_ERROR_GE_LOAD_MODEL;
    case StatusCode::kUnavailable:
    case StatusCode::kInternal: return ACL_ERROR_GE_INTERNAL_ERROR;
  }
  return ACL_ERROR_GE_INTERNAL_ERROR;
}

}  // namespace

aclError Fail(aclError code, std::string_view sentence) {
  OfThisThread().code = code;
  OfThisThread().sentence = Printable(sentence);
  return code;
}

aclError ToAclError(StatusCode code, Area area) {
  return area == Area::kRuntime ? ToRuntimeError(code) : static_cast<aclError>(ToModelError(code));
}

aclError Fail(const Status& status, Area area) { return Fail(ToAclError(status.code(), area), status.message()); }

}  // namespace npustream::acl

using npustream::acl::Fail;
using npustream::acl::OfThisThread;

const char* aclGetRecentErrMsg() {
  auto& last = OfThisThread();
  if (last.sentence.empty()) return nullptr;
  last.handed_out.swap(last.sentence);
  last.sentence.clear();
  return last.handed_out.c_str();
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL)
    return Fail(ACL_ERROR_INVALID_PARAM, "{} is no level of errors", static_cast<int>(level));
  return OfThisThread().code;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  const aclError code = aclrtPeekAtLastError(level);
  OfThisThread().code = ACL_SUCCESS;
  return code;
}
