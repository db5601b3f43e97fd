#include "elements/memory/npu_device.h"

#include <fmt/format.h>

#include "runtime/serving/acl_status.h"

namespace npustream::elements {

Result<std::shared_ptr<const NpuDevice>> NpuDevice::Open(int device_id) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<serving::AclSession> session, serving::AclSession::Acquire());
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtSetDevice(device_id), fmt::format("opening device {}", device_id));
  aclrtContext context = nullptr;
  if (Status status = serving::AclStatus(aclrtGetCurrentContext(&context), "asking for the device's context");
      !status.ok()) {
    aclrtResetDevice(device_id);
    return status;
  }
  return std::shared_ptr<const NpuDevice>(
      new NpuDevice(std::move(session), device_id, context));  // private constructor
}

NpuDevice::~NpuDevice() { aclrtResetDevice(device_id_); }

Status NpuDevice::Bind() const {
  return serving::AclStatus(aclrtSetCurrentContext(context_), "making the device current");
}

}  // namespace npustream::elements
