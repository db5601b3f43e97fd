#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <acl/acl_rt.h>

#include "base/mutex.h"
#include "npu_sim/device/device.h"
#include "runtime/acl/handle_table.h"

namespace npustream::acl {

struct StreamObject {
  aclrtContext context = nullptr;
  device::Device* device = nullptr;
  std::unique_ptr<device::Stream> stream;
};

// What a thread works in: a device, a default stream, and whatever was made in it, which ends with it. Thread-safe.
class Context {
 public:
  Context(int32_t device_id, device::Device& device, bool is_default)
      : device_id_(device_id), device_(device), is_default_(is_default) {}

  aclrtContext handle() const { return handle_; }
  int32_t device_id() const { return device_id_; }  // as the program counts devices
  device::Device& device() const { return device_; }
  bool is_default() const { return is_default_; }
  const std::shared_ptr<StreamObject>& default_stream() const { return default_stream_; }

  // Has `end` called when the context ends, unless `child` (a handle made in it) has been disowned before.
  void Adopt(const void* child, std::function<void()> end);
  void Disown(const void* child);
  // Waits for the tasks of all streams and ends all children.
  void End();
  // Every live stream, the default one first.
  std::vector<std::shared_ptr<StreamObject>> Streams() const;

 private:
  friend aclError MakeContext(int32_t device_id, bool is_default, std::shared_ptr<Context>* context);

  aclrtContext handle_ = nullptr;
  const int32_t device_id_;
  device::Device& device_;
  const bool is_default_;
  std::shared_ptr<StreamObject> default_stream_;
  mutable Mutex mutex_;
  std::map<const void*, std::function<void()>> children_ NPUSTREAM_GUARDED_BY(mutex_);
};

HandleTable<Context>& Contexts();
HandleTable<StreamObject>& Streams();

// The calling thread's context, or null; then say `return NoContext();`. A thread that has none gets the one of the
// default device if aclInit's configuration names one.
std::shared_ptr<Context> CurrentContext();
aclError NoContext();
// The context behind a handle; null as for CurrentContext, then say `return NotAContext(handle);`.
std::shared_ptr<Context> FindContext(aclrtContext handle);
aclError NotAContext(aclrtContext handle);
void SetThreadContext(aclrtContext handle);

// Makes and registers a context with its default stream.
aclError MakeContext(int32_t device_id, bool is_default, std::shared_ptr<Context>* context);
// Takes a context out of use: waits for it, ends its children.
void EndContext(const std::shared_ptr<Context>& context);

// The stream behind a handle, which must belong to the current context; null means its default stream.
aclError FindStream(aclrtStream handle, std::shared_ptr<StreamObject>* stream);
// Waits for every stream that belongs to the context. timeout in milliseconds for each, −1 for ever.
Status SynchronizeContext(const Context& context, int timeout_ms);

// The device the program means by `device_id`: ASCEND_RT_VISIBLE_DEVICES may renumber them.
aclError FindDevice(int32_t device_id, device::Device** device);
int VisibleDeviceCount();

// The default device of aclInit's configuration, −1 without one.
int32_t DefaultDeviceId();
// Between aclInit and aclFinalize. Outside of them no call reaches anything of the runtime: there is no current
// context, no context, device or model under any handle or number (CurrentContext, FindContext, FindDevice, FindModel),
// and what says so (NoContext, NoDevice, NoModel) gives ACL_ERROR_UNINITIALIZE. A call that needs none of them says
// CheckInitialized() itself. Buffers, datasets and descriptions are values, which need no runtime.
bool IsInitialized();
aclError CheckInitialized();
// The default context of a device; made on first use. Not counted.
aclError DefaultContext(int32_t device_id, std::shared_ptr<Context>* context);

}  // namespace npustream::acl
