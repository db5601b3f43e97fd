#include <acl/acl_rt.h>

#include "runtime/acl/context.h"
#include "runtime/acl/error.h"
#include "runtime/acl/report.h"

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::Status;

namespace {

constexpr uint32_t kLowestPriority = 7;
constexpr uint32_t kStreamFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT |
                                  ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

void EndStream(aclrtStream handle) {
  const auto stream = Streams().Remove(handle);
  if (stream == nullptr) return;
  UnsubscribeStream(handle);
  (void)stream->stream->Synchronize();
}

aclError Destroy(aclrtStream handle, bool force) {
  if (handle == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "the default stream ends with its context and cannot be destroyed");
  }
  std::shared_ptr<StreamObject> stream;
  if (const aclError error = FindStream(handle, &stream); error != ACL_SUCCESS) return error;
  if (force) stream->stream->Abort();
  if (const auto context = Contexts().Find(stream->context)) context->Disown(handle);
  EndStream(handle);
  return ACL_SUCCESS;
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) { return aclrtCreateStreamWithConfig(stream, 0, 0); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  if (stream == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream was given no place for the stream");
  if (priority > kLowestPriority) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} is no stream priority", priority);
  if ((flag & ~kStreamFlags) != 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{:#x} are no stream flags", flag);
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  auto made = context->device().CreateStream();
  if (!made.ok()) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, made.status().message());
  const aclrtStream handle = Streams().Add(
      std::make_shared<StreamObject>(StreamObject{context->handle(), &context->device(), std::move(made).value()}));
  context->Adopt(handle, [handle] { EndStream(handle); });
  *stream = handle;
  return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) { return Destroy(stream, false); }
aclError aclrtDestroyStreamForce(aclrtStream stream) { return Destroy(stream, true); }

aclError aclrtSynchronizeStream(aclrtStream stream) { return aclrtSynchronizeStreamWithTimeout(stream, -1); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (timeout < -1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} ms is no timeout", timeout);
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  const Status status = found->stream->Synchronize(timeout);
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery was given no place for the status");
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  *status = found->stream->Idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  if (streamId == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId was given no place for the id");
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  *streamId = found->stream->id();
  return ACL_SUCCESS;
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  if (streamCount == nullptr)
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAvailableNum was given no place for it");
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  *streamCount = static_cast<uint32_t>(npustream::device::Device::kMaxStreams - context->device().StreamCount());
  return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  if (stream == nullptr)
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetCurrentDefaultStream was given no place for it");
  if (CurrentContext() == nullptr) return NoContext();
  *stream = nullptr;  // which is how all calls name it
  return ACL_SUCCESS;
}
