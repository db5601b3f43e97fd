#include "dvpp/api/device_blocks.h"
#include "dvpp/api/owned_pictures.h"
#include "dvpp/picture/picture.h"
#include "runtime/acl/internal.h"

using npustream::acl::Fail;

aclError acldvppMalloc(void **devPtr, size_t size) {
  if (devPtr == nullptr || size == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the result is null or the size 0", __func__);
  }
  const auto context = npustream::acl::CurrentContext();
  if (context == nullptr) return npustream::acl::NoContext();
  auto address = context->device().memory().Allocate(size, npustream::device::PagePolicy::kHugeFirst);
  if (!address.ok()) return Fail(address.status(), npustream::acl::Area::kRuntime);
  *devPtr = address.value();
  return ACL_SUCCESS;
}

aclError acldvppFree(void *devPtr) {
  if (devPtr == nullptr || npustream::dvpp::OwnedPictures::Instance().GiveBack(devPtr)) return ACL_SUCCESS;
  if (npustream::dvpp::DeviceBlocks::Owns(devPtr)) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the picture has been given back before", __func__);
  }
  npustream::acl::MemorySpan span;
  const aclError error = npustream::acl::LookUpDevice("devPtr", devPtr, 1, &span);
  if (error != ACL_SUCCESS) return error;
  const npustream::Status status = span.device->memory().Free(devPtr);
  return status.ok() ? ACL_SUCCESS : Fail(status, npustream::acl::Area::kRuntime);
}
