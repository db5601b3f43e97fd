#include "elements/meta/npu_metas.h"

#include <algorithm>
#include <cmath>

#include "elements/meta/payload_meta_impl.h"

namespace npustream::elements {
namespace {

const gchar* const kNoTags[] = {nullptr};
// Those of GstVideoRegionOfInterestMeta, so that the same elements carry both on.
const gchar* const kPictureTags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
                                     GST_META_TAG_VIDEO_SIZE_STR, nullptr};

guint WholePixels(float value) { return static_cast<guint>(std::max(0L, std::lround(value))); }

void MirrorObject(GstBuffer* buffer, const DetectedObject& object, const DetectionResult& result) {
  const Box& box = object.detection.box;
  const guint left = WholePixels(box.x_min), top = WholePixels(box.y_min);
  const guint right = WholePixels(box.x_max), bottom = WholePixels(box.y_max);
  GstVideoRegionOfInterestMeta* roi =
      gst_buffer_add_video_region_of_interest_meta(buffer, object.label.c_str(), left, top, right - left, bottom - top);
  const double width = std::max(1, result.frame_width), height = std::max(1, result.frame_height);
  gst_video_region_of_interest_meta_add_param(
      roi,
      gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, static_cast<double>(object.detection.confidence),
                        "label_id", G_TYPE_INT, object.detection.label_id, "label", G_TYPE_STRING, object.label.c_str(),
                        "x_min", G_TYPE_DOUBLE, box.x_min / width, "x_max", G_TYPE_DOUBLE, box.x_max / width, "y_min",
                        G_TYPE_DOUBLE, box.y_min / height, "y_max", G_TYPE_DOUBLE, box.y_max / height, nullptr));
}

}  // namespace

const gchar* const* FrameMetaTraits::Tags() { return kNoTags; }
const gchar* const* ModelInputMetaTraits::Tags() { return kNoTags; }
const gchar* const* TensorMetaTraits::Tags() { return kNoTags; }
const gchar* const* DetectionMetaTraits::Tags() { return kPictureTags; }

bool DetectionMetaTraits::Scale(DetectionResult& result, const GstVideoMetaTransform& scaling) {
  const float x = static_cast<float>(GST_VIDEO_INFO_WIDTH(scaling.out_info)) / GST_VIDEO_INFO_WIDTH(scaling.in_info);
  const float y = static_cast<float>(GST_VIDEO_INFO_HEIGHT(scaling.out_info)) / GST_VIDEO_INFO_HEIGHT(scaling.in_info);
  for (DetectedObject& object : result.objects) {
    Box& box = object.detection.box;
    box = {box.x_min * x, box.y_min * y, box.x_max * x, box.y_max * y};
    for (Landmark& landmark : object.detection.landmarks) landmark = {landmark.x * x, landmark.y * y};
  }
  result.frame_width = GST_VIDEO_INFO_WIDTH(scaling.out_info);
  result.frame_height = GST_VIDEO_INFO_HEIGHT(scaling.out_info);
  return true;
}

template struct PayloadMeta<FrameMetaTraits>;
template struct PayloadMeta<ModelInputMetaTraits>;
template struct PayloadMeta<TensorMetaTraits>;
template struct PayloadMeta<DetectionMetaTraits>;

void AttachDetections(GstBuffer* buffer, DetectionResult result) {
  for (const DetectedObject& object : result.objects) MirrorObject(buffer, object, result);
  NpuDetectionMeta::Add(buffer, std::move(result));
}

void MarkSkipped(GstBuffer* buffer, InferenceSkipped reason) {
  if (FrameInfo* frame = NpuFrameMeta::Get(buffer)) {
    frame->skipped = reason;
    return;
  }
  FrameInfo info;
  info.skipped = reason;
  NpuFrameMeta::Add(buffer, std::move(info));
}

}  // namespace npustream::elements
