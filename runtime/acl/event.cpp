#include <memory>

#include <acl/acl_rt.h>

#include "runtime/acl/context.h"
#include "runtime/acl/error.h"

namespace npustream::acl {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr float kNsPerMs = 1e6f;

struct EventObject {
  aclrtContext context = nullptr;
  std::shared_ptr<device::Event> event;  // shared with the tasks that wait for it
  bool keeps_time = false;
  bool can_be_reset = false;
};

HandleTable<EventObject>& Events() {
  static auto* table = new HandleTable<EventObject>(HandleKind::kEvent);  // NOLINT: may be used until the very end
  return *table;
}

aclError FindEvent(aclrtEvent handle, std::shared_ptr<EventObject>* event) {
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  if (handle == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no event was given");
  *event = Events().Find(handle);
  if (*event == nullptr) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "{} is not an event, or was destroyed", handle);
  if ((*event)->context != context->handle()) {
    return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "the event belongs to another context than this thread's");
  }
  return ACL_SUCCESS;
}

void EndEvent(aclrtEvent handle) {
  if (const auto event = Events().Remove(handle)) event->event->Close();
}

aclError Create(aclrtEvent* event, bool keeps_time, bool can_be_reset) {
  if (event == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the event was given");
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  const aclrtEvent handle = Events().Add(std::make_shared<EventObject>(
      EventObject{context->handle(), context->device().CreateEvent(), keeps_time, can_be_reset}));
  context->Adopt(handle, [handle] { EndEvent(handle); });
  *event = handle;
  return ACL_SUCCESS;
}

// Finds both and calls `submit` on the stream with the event.
template <typename Submit>
aclError OnStream(aclrtEvent event, aclrtStream stream, Submit submit) {
  std::shared_ptr<EventObject> found_event;
  std::shared_ptr<StreamObject> found_stream;
  if (const aclError error = FindEvent(event, &found_event); error != ACL_SUCCESS) return error;
  if (const aclError error = FindStream(stream, &found_stream); error != ACL_SUCCESS) return error;
  const Status status = submit(*found_stream->stream, *found_event);
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}

aclError TimeOf(aclrtEvent handle, int64_t* time_ns) {
  std::shared_ptr<EventObject> event;
  if (const aclError error = FindEvent(handle, &event); error != ACL_SUCCESS) return error;
  if (!event->keeps_time) {
    return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                "the event was made without ACL_EVENT_TIME_LINE and keeps no time");
  }
  const auto time = event->event->TimeNs();
  if (!time) {
    return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                "the event has not happened yet; record it and synchronize first");
  }
  *time_ns = *time;
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::Status;
using npustream::StatusCode;

aclError aclrtCreateEvent(aclrtEvent* event) { return Create(event, true, false); }

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  constexpr uint32_t kFlags = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;
  if (flag == 0 || (flag & ~kFlags) != 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{:#x} are no event flags", flag);
  return Create(event, (flag & ACL_EVENT_TIME_LINE) != 0, (flag & ACL_EVENT_SYNC) != 0);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) { return aclrtCreateEventWithFlag(event, flag); }

aclError aclrtDestroyEvent(aclrtEvent event) {
  std::shared_ptr<EventObject> found;
  if (const aclError error = FindEvent(event, &found); error != ACL_SUCCESS) return error;
  if (const auto context = Contexts().Find(found->context)) context->Disown(event);
  EndEvent(event);
  return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return OnStream(event, stream, [](auto& to, const EventObject& object) { return to.Record(object.event); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return OnStream(event, stream, [](auto& to, const EventObject& object) { return to.Wait(object.event); });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return OnStream(event, stream, [](auto& to, const EventObject& object) {
    if (!object.can_be_reset) {
      return Status(StatusCode::kInvalidArgument, "only an event made with ACL_EVENT_SYNC can be reset");
    }
    return to.Reset(object.event);
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the status was given");
  std::shared_ptr<EventObject> found;
  if (const aclError error = FindEvent(event, &found); error != ACL_SUCCESS) return error;
  *status = found->event->Happened() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  if (status == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the status was given");
  std::shared_ptr<EventObject> found;
  if (const aclError error = FindEvent(event, &found); error != ACL_SUCCESS) return error;
  *status = found->event->Happened() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return aclrtSynchronizeEventWithTimeout(event, -1); }

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  if (timeout < -1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} ms is no timeout", timeout);
  std::shared_ptr<EventObject> found;
  if (const aclError error = FindEvent(event, &found); error != ACL_SUCCESS) return error;
  const Status status = found->event->Synchronize(timeout);
  if (status.code() == StatusCode::kTimeout) return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, status.message());
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  if (ms == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the time was given");
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  if (const aclError error = TimeOf(startEvent, &begin_ns); error != ACL_SUCCESS) return error;
  if (const aclError error = TimeOf(endEvent, &end_ns); error != ACL_SUCCESS) return error;
  *ms = static_cast<float>(end_ns - begin_ns) / kNsPerMs;
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  if (timestamp == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the timestamp was given");
  int64_t time_ns = 0;
  if (const aclError error = TimeOf(event, &time_ns); error != ACL_SUCCESS) return error;
  *timestamp = static_cast<uint64_t>(time_ns / kNsPerUs);
  return ACL_SUCCESS;
}
