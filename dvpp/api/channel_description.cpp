#include <atomic>

#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"

using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

acldvppChannelDesc *acldvppCreateChannelDesc() { return CreateHandle<acldvppChannelDesc>(); }
aclError acldvppDestroyChannelDesc(acldvppChannelDesc *handle) {
  if (handle != nullptr && handle->created) {
    return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: its channel has not been destroyed", __func__);
  }
  return DestroyHandle(handle, __func__);
}
uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc *handle) {
  return GetField(handle, &acldvppChannelDesc::channel_id);
}
aclError acldvppSetChannelDescMode(acldvppChannelDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppChannelDesc::mode, value, __func__);
}

aclError acldvppSetChannelDescParam(acldvppChannelDesc *handle, acldvppChannelDescParamType paramType, size_t length,
                                    const void *param) {
  if (handle == nullptr) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", __func__);
  switch (paramType) {
    case ACL_DVPP_CSC_MATRIX_UINT32: return SetParameter(handle->csc_matrix, length, param, __func__);
    case ACL_DVPP_MODE_UINT32: return SetParameter(handle->mode, length, param, __func__);
    case ACL_DVPP_CHANNEL_HEIGHT_UINT32: return SetParameter(handle->height, length, param, __func__);
    case ACL_DVPP_CHANNEL_WIDTH_UINT32: return SetParameter(handle->width, length, param, __func__);
    case ACL_DVPP_JPEGD_PRECISION_MODE_ENUM: return SetParameter(handle->jpegd_precision, length, param, __func__);
    default: return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: no parameter {} to set", __func__, +paramType);
  }
}

aclError acldvppGetChannelDescParam(const acldvppChannelDesc *handle, acldvppChannelDescParamType paramType,
                                    size_t length, size_t *paramRetSize, void *param) {
  if (handle == nullptr) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", __func__);
  switch (paramType) {
    case ACL_DVPP_CSC_MATRIX_UINT32: return GetParameter(handle->csc_matrix, length, paramRetSize, param, __func__);
    case ACL_DVPP_MODE_UINT32: return GetParameter(handle->mode, length, paramRetSize, param, __func__);
    case ACL_DVPP_CHANNEL_ID_UINT64: return GetParameter(handle->channel_id, length, paramRetSize, param, __func__);
    case ACL_DVPP_CHANNEL_HEIGHT_UINT32: return GetParameter(handle->height, length, paramRetSize, param, __func__);
    case ACL_DVPP_CHANNEL_WIDTH_UINT32: return GetParameter(handle->width, length, paramRetSize, param, __func__);
    case ACL_DVPP_JPEGD_PRECISION_MODE_ENUM:
      return GetParameter(handle->jpegd_precision, length, paramRetSize, param, __func__);
    default: return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: no parameter {}", __func__, +paramType);
  }
}

aclError acldvppCreateChannel(acldvppChannelDesc *handle) {
  if (handle == nullptr) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", __func__);
  if (handle->created) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the channel exists already", __func__);
  if (npustream::acl::CurrentContext() == nullptr) return npustream::acl::NoContext();
  static std::atomic<uint64_t> next_id = 0;
  handle->channel_id = next_id++;
  handle->created = true;
  return ACL_SUCCESS;
}

aclError acldvppDestroyChannel(acldvppChannelDesc *handle) {
  if (handle == nullptr || !handle->created) {
    return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: there is no such channel", __func__);
  }
  handle->created = false;
  return ACL_SUCCESS;
}
