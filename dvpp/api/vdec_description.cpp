#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"
#include "dvpp/api/vdec_session.h"

using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

// The extensions of README.md.
constexpr uint32_t kColourParameter = 0x1000;
constexpr uint32_t kUnknownColour = 2;

aclvdecChannelDesc *aclvdecCreateChannelDesc() { return CreateHandle<aclvdecChannelDesc>(); }

aclError aclvdecSetChannelDescChannelId(aclvdecChannelDesc *handle, uint32_t value) {
  return SetField(handle, &aclvdecChannelDesc::channel_id, value, __func__);
}
aclError aclvdecSetChannelDescThreadId(aclvdecChannelDesc *handle, uint64_t value) {
  return SetField(handle, &aclvdecChannelDesc::thread_id, value, __func__);
}
aclError aclvdecSetChannelDescCallback(aclvdecChannelDesc *handle, aclvdecCallback value) {
  return SetField(handle, &aclvdecChannelDesc::callback, value, __func__);
}
aclError aclvdecSetChannelDescEnType(aclvdecChannelDesc *handle, acldvppStreamFormat value) {
  return SetField(handle, &aclvdecChannelDesc::en_type, value, __func__);
}
aclError aclvdecSetChannelDescOutPicFormat(aclvdecChannelDesc *handle, acldvppPixelFormat value) {
  return SetField(handle, &aclvdecChannelDesc::out_pic_format, value, __func__);
}
aclError aclvdecSetChannelDescOutPicWidth(aclvdecChannelDesc *handle, uint32_t value) {
  return SetField(handle, &aclvdecChannelDesc::out_pic_width, value, __func__);
}
aclError aclvdecSetChannelDescOutPicHeight(aclvdecChannelDesc *handle, uint32_t value) {
  return SetField(handle, &aclvdecChannelDesc::out_pic_height, value, __func__);
}
aclError aclvdecSetChannelDescRefFrameNum(aclvdecChannelDesc *handle, uint32_t value) {
  return SetField(handle, &aclvdecChannelDesc::ref_frame_num, value, __func__);
}
aclError aclvdecSetChannelDescOutMode(aclvdecChannelDesc *handle, uint32_t value) {
  return SetField(handle, &aclvdecChannelDesc::out_mode, value, __func__);
}
aclError aclvdecSetChannelDescBitDepth(aclvdecChannelDesc *handle, uint32_t value) {
  return SetField(handle, &aclvdecChannelDesc::bit_depth, value, __func__);
}

uint32_t aclvdecGetChannelDescChannelId(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::channel_id);
}
uint64_t aclvdecGetChannelDescThreadId(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::thread_id);
}
aclvdecCallback aclvdecGetChannelDescCallback(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::callback);
}
acldvppStreamFormat aclvdecGetChannelDescEnType(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::en_type);
}
acldvppPixelFormat aclvdecGetChannelDescOutPicFormat(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::out_pic_format);
}
uint32_t aclvdecGetChannelDescOutPicWidth(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::out_pic_width);
}
uint32_t aclvdecGetChannelDescOutPicHeight(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::out_pic_height);
}
uint32_t aclvdecGetChannelDescRefFrameNum(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::ref_frame_num);
}
uint32_t aclvdecGetChannelDescOutMode(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::out_mode);
}
uint32_t aclvdecGetChannelDescBitDepth(const aclvdecChannelDesc *handle) {
  return GetField(handle, &aclvdecChannelDesc::bit_depth);
}

aclError aclvdecSetChannelDescParam(aclvdecChannelDesc *handle, aclvdecChannelDescParamType paramType, size_t length,
                                    const void *param) {
  if (handle == nullptr) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", __func__);
  switch (static_cast<uint32_t>(paramType)) {
    case ACL_VDEC_CSC_MATRIX_UINT32: return SetParameter(handle->csc_matrix, length, param, __func__);
    case ACL_VDEC_OUT_MODE_UINT32: return SetParameter(handle->out_mode, length, param, __func__);
    case ACL_VDEC_THREAD_ID_UINT64: return SetParameter(handle->thread_id, length, param, __func__);
    case ACL_VDEC_CALLBACK_PTR: return SetParameter(handle->callback, length, param, __func__);
    case ACL_VDEC_CHANNEL_ID_UINT32: return SetParameter(handle->channel_id, length, param, __func__);
    case ACL_VDEC_ENCODE_TYPE_UINT32: return SetParameter(handle->en_type, length, param, __func__);
    case ACL_VDEC_OUT_PIC_FORMAT_UINT32: return SetParameter(handle->out_pic_format, length, param, __func__);
    case ACL_VDEC_OUT_PIC_WIDTH_UINT32: return SetParameter(handle->out_pic_width, length, param, __func__);
    case ACL_VDEC_OUT_PIC_HEIGHT_UINT32: return SetParameter(handle->out_pic_height, length, param, __func__);
    case ACL_VDEC_REF_FRAME_NUM_UINT32: return SetParameter(handle->ref_frame_num, length, param, __func__);
    case ACL_VDEC_BIT_DEPTH_UINT32: return SetParameter(handle->bit_depth, length, param, __func__);
    default: return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: no parameter {}", __func__, +paramType);
  }
}

aclError aclvdecGetChannelDescParam(const aclvdecChannelDesc *handle, aclvdecChannelDescParamType paramType,
                                    size_t length, size_t *paramRetSize, void *param) {
  if (handle == nullptr) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", __func__);
  switch (static_cast<uint32_t>(paramType)) {
    case ACL_VDEC_CSC_MATRIX_UINT32: return GetParameter(handle->csc_matrix, length, paramRetSize, param, __func__);
    case ACL_VDEC_OUT_MODE_UINT32: return GetParameter(handle->out_mode, length, paramRetSize, param, __func__);
    case ACL_VDEC_THREAD_ID_UINT64: return GetParameter(handle->thread_id, length, paramRetSize, param, __func__);
    case ACL_VDEC_CALLBACK_PTR: return GetParameter(handle->callback, length, paramRetSize, param, __func__);
    case ACL_VDEC_CHANNEL_ID_UINT32: return GetParameter(handle->channel_id, length, paramRetSize, param, __func__);
    case ACL_VDEC_ENCODE_TYPE_UINT32: return GetParameter(handle->en_type, length, paramRetSize, param, __func__);
    case ACL_VDEC_OUT_PIC_FORMAT_UINT32:
      return GetParameter(handle->out_pic_format, length, paramRetSize, param, __func__);
    case ACL_VDEC_OUT_PIC_WIDTH_UINT32:
      return GetParameter(handle->out_pic_width, length, paramRetSize, param, __func__);
    case ACL_VDEC_OUT_PIC_HEIGHT_UINT32:
      return GetParameter(handle->out_pic_height, length, paramRetSize, param, __func__);
    case ACL_VDEC_REF_FRAME_NUM_UINT32:
      return GetParameter(handle->ref_frame_num, length, paramRetSize, param, __func__);
    case ACL_VDEC_BIT_DEPTH_UINT32: return GetParameter(handle->bit_depth, length, paramRetSize, param, __func__);
    case kColourParameter: {
      const uint32_t colour = handle->session == nullptr ? kUnknownColour : handle->session->current_colour();
      return GetParameter(colour, length, paramRetSize, param, __func__);
    }
    default: return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: no parameter {}", __func__, +paramType);
  }
}
