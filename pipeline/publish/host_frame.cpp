#include "pipeline/publish/host_frame.h"

#include <gst/video/video.h>

namespace npustream::pipeline {

Status WithHostPicture(GstSample* sample, const std::function<void(const HostPicture&)>& use) {
  GstVideoInfo info;
  const Status unsupported(StatusCode::kUnsupported, "the annotated video needs NV12 pictures in host memory");
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_NV12) {
    return unsupported;
  }
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) return unsupported;
  HostPicture picture;
  picture.luma = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  picture.chroma = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 1));
  picture.width = GST_VIDEO_FRAME_WIDTH(&frame);
  picture.height = GST_VIDEO_FRAME_HEIGHT(&frame);
  picture.luma_stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
  picture.chroma_stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 1));
  if (GST_VIDEO_INFO_FPS_D(&info) > 0) {
    picture.frames_per_second = static_cast<double>(GST_VIDEO_INFO_FPS_N(&info)) / GST_VIDEO_INFO_FPS_D(&info);
  }
  use(picture);
  gst_video_frame_unmap(&frame);
  return Status();
}

}  // namespace npustream::pipeline
