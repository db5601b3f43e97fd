#pragma once

#include <memory>

#include <acl/acl.h>

#include "base/status.h"
#include "runtime/serving/acl_session.h"

namespace npustream::elements {

// A device that is open in this process. Elements share the device's default context; whoever holds memory of the
// device holds one of these too, so that it is not reset while a buffer is on its way. Thread-safe.
class NpuDevice {
 public:
  // Initialises acl if nobody has, and opens the device. Errors carry acl's code and sentence.
  static Result<std::shared_ptr<const NpuDevice>> Open(int device_id);
  ~NpuDevice();
  NpuDevice(const NpuDevice&) = delete;
  NpuDevice& operator=(const NpuDevice&) = delete;

  // Makes the device the calling thread's own; every thread needs it before its first acl call.
  Status Bind() const;
  int id() const { return device_id_; }

 private:
  NpuDevice(std::shared_ptr<serving::AclSession> session, int device_id, aclrtContext context)
      : session_(std::move(session)), device_id_(device_id), context_(context) {}
  const std::shared_ptr<serving::AclSession> session_;  // shared with everybody who uses acl in this process
  const int device_id_;
  const aclrtContext context_;
};

}  // namespace npustream::elements
