#include "elements/memory/gst_npu_transfer.h"

#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"

namespace npustream::elements {

GstCaps* CapsOnDevice(const GstCaps* caps) {
  GstCaps* result = gst_caps_copy(caps);
  gst_caps_set_features_simple(result, gst_caps_features_new(NPUSTREAM_CAPS_FEATURE_MEMORY, nullptr));
  return result;
}

GstCaps* CapsOnHost(const GstCaps* caps) {
  GstCaps* result = gst_caps_copy(caps);
  gst_caps_set_features_simple(result, nullptr);
  return result;
}

GstCaps* FilterCaps(GstCaps* caps, GstCaps* filter) {
  if (filter == nullptr) return caps;
  GstCaps* result = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return result;
}

HostPicture HostPictureOf(GstVideoFrame* frame) {
  HostPicture picture;
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(frame) && plane < picture.planes.size(); ++plane) {
    picture.planes[plane] = static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(frame, plane));
    picture.strides[plane] = GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane);
  }
  return picture;
}

gboolean VideoUnitSize(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

gboolean VideoTransformSize(GstBaseTransform* transform, GstPadDirection, GstCaps*, gsize, GstCaps* other_caps,
                            gsize* other_size) {
  return VideoUnitSize(transform, other_caps, other_size);
}

gboolean KeepMeta(GstBaseTransform*, GstBuffer*, GstMeta* meta, GstBuffer*) {
  return meta->info->api != GST_VIDEO_META_API_TYPE && meta->info->api != NpuModelInputMeta::Api();
}

}  // namespace npustream::elements
