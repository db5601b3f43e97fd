#include "runtime/acl/context.h"

#include "runtime/acl/error.h"
#include "runtime/acl/report.h"

namespace npustream::acl {
namespace {

thread_local aclrtContext t_context = nullptr;

// Tables and defaults are never destroyed: other threads and static objects of the program may still use them at exit.
template <typename T, HandleKind kKind>
HandleTable<T>& Table() {
  static auto* table = new HandleTable<T>(kKind);  // NOLINT: kept until the process ends, see above
  return *table;
}

}  // namespace

HandleTable<Context>& Contexts() { return Table<Context, HandleKind::kContext>(); }
HandleTable<StreamObject>& Streams() { return Table<StreamObject, HandleKind::kStream>(); }

void Context::Adopt(const void* child, std::function<void()> end) {
  MutexLock lock(mutex_);
  children_[child] = std::move(end);
}

void Context::Disown(const void* child) {
  MutexLock lock(mutex_);
  children_.erase(child);
}

void Context::End() {
  (void)SynchronizeContext(*this, -1);
  std::map<const void*, std::function<void()>> children;
  {
    MutexLock lock(mutex_);
    children.swap(children_);
  }
  for (auto& [child, end] : children) end();
}

std::vector<std::shared_ptr<StreamObject>> Context::Streams() const {
  std::vector<std::shared_ptr<StreamObject>> streams{default_stream_};
  MutexLock lock(mutex_);
  for (const auto& [child, end] : children_) {
    if (auto stream = acl::Streams().Find(child)) streams.push_back(std::move(stream));
  }
  return streams;
}

Status SynchronizeContext(const Context& context, int timeout_ms) {
  Status first_failure;
  for (const auto& stream : context.Streams()) {
    Status status = stream->stream->Synchronize(timeout_ms);
    if (first_failure.ok() && !status.ok()) first_failure = std::move(status);
  }
  return first_failure;
}

std::shared_ptr<Context> FindContext(aclrtContext handle) {
  return IsInitialized() ? Contexts().Find(handle) : nullptr;
}

aclError NotAContext(aclrtContext handle) {
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  return Fail(ACL_ERROR_RT_CONTEXT_NULL, "{} is not a context, or was destroyed", handle);
}

std::shared_ptr<Context> CurrentContext() {
  if (!IsInitialized()) return nullptr;
  if (t_context == nullptr && DefaultDeviceId() >= 0) {
    std::shared_ptr<Context> context;
    if (DefaultContext(DefaultDeviceId(), &context) == ACL_SUCCESS) t_context = context->handle();
  }
  return t_context == nullptr ? nullptr : Contexts().Find(t_context);
}

aclError NoContext() {
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  return Fail(ACL_ERROR_RT_CONTEXT_NULL,
              t_context == nullptr
                  ? "this thread has no context; call aclrtSetDevice or aclrtSetCurrentContext on it first"
                  : "the context of this thread was destroyed, or its device reset");
}

void SetThreadContext(aclrtContext handle) { t_context = handle; }

aclError MakeContext(int32_t device_id, bool is_default, std::shared_ptr<Context>* context) {
  device::Device* device = nullptr;
  if (const aclError error = FindDevice(device_id, &device); error != ACL_SUCCESS) return error;
  auto stream = device->CreateStream();
  if (!stream.ok()) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, stream.status().message());
  auto made = std::make_shared<Context>(device_id, *device, is_default);
  made->handle_ = Contexts().Add(made);
  made->default_stream_ =
      std::make_shared<StreamObject>(StreamObject{made->handle_, device, std::move(stream).value()});
  *context = std::move(made);
  return ACL_SUCCESS;
}

void EndContext(const std::shared_ptr<Context>& context) {
  if (Contexts().Remove(context->handle()) == nullptr) return;  // somebody else was first
  UnsubscribeStream(context->handle());                         // callbacks of the default stream
  context->End();
}

aclError FindStream(aclrtStream handle, std::shared_ptr<StreamObject>* stream) {
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  if (handle == nullptr) {
    *stream = context->default_stream();
    return ACL_SUCCESS;
  }
  *stream = Streams().Find(handle);
  if (*stream == nullptr) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "{} is not a stream, or was destroyed", handle);
  if ((*stream)->context != context->handle()) {
    return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "the stream belongs to another context than this thread's");
  }
  return ACL_SUCCESS;
}

}  // namespace npustream::acl

using npustream::acl::CurrentContext;
using npustream::acl::Fail;
using npustream::acl::FindContext;
using npustream::acl::NoContext;
using npustream::acl::NotAContext;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  if (context == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext was given no place for the context");
  std::shared_ptr<npustream::acl::Context> made;
  if (const aclError error = npustream::acl::MakeContext(deviceId, false, &made); error != ACL_SUCCESS) return error;
  npustream::acl::SetThreadContext(made->handle());
  *context = made->handle();
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  if (context == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext was given no context");
  const auto found = FindContext(context);
  if (found == nullptr) return NotAContext(context);
  if (found->is_default()) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the default context of a device ends with aclrtResetDevice only");
  }
  npustream::acl::EndContext(found);
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (context == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext was given no context");
  if (FindContext(context) == nullptr) return NotAContext(context);
  npustream::acl::SetThreadContext(context);
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext was given no place for it");
  const auto current = CurrentContext();
  if (current == nullptr) return NoContext();
  *context = current->handle();
  return ACL_SUCCESS;
}
