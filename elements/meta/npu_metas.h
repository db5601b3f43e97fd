#pragma once

#include "elements/meta/detection_result.h"
#include "elements/meta/frame_info.h"
#include "elements/meta/inference_data.h"
#include "elements/meta/payload_meta.h"

namespace npustream::elements {

struct FrameMetaTraits {
  using Payload = FrameInfo;
  static constexpr const char* kApiName = "NpuFrameMetaAPI";
  static constexpr const char* kName = "NpuFrameMeta";
  static const gchar* const* Tags();
  static bool Scale(FrameInfo&, const GstVideoMetaTransform&) { return true; }
};

// The picture of a model's size. Dropped when the frame is scaled.
struct ModelInputMetaTraits {
  using Payload = ModelInput;
  static constexpr const char* kApiName = "NpuModelInputMetaAPI";
  static constexpr const char* kName = "NpuModelInputMeta";
  static const gchar* const* Tags();
  static bool Scale(ModelInput&, const GstVideoMetaTransform&) { return false; }
};

struct TensorMetaTraits {
  using Payload = ModelOutput;
  static constexpr const char* kApiName = "NpuTensorMetaAPI";
  static constexpr const char* kName = "NpuTensorMeta";
  static const gchar* const* Tags();
  static bool Scale(ModelOutput&, const GstVideoMetaTransform&) { return false; }
};

// One per model that looked at the frame. Boxes follow when the frame is scaled.
struct DetectionMetaTraits {
  using Payload = DetectionResult;
  static constexpr const char* kApiName = "NpuDetectionMetaAPI";
  static constexpr const char* kName = "NpuDetectionMeta";
  static const gchar* const* Tags();
  static bool Scale(DetectionResult& result, const GstVideoMetaTransform& scaling);
};

extern template struct PayloadMeta<FrameMetaTraits>;
extern template struct PayloadMeta<ModelInputMetaTraits>;
extern template struct PayloadMeta<TensorMetaTraits>;
extern template struct PayloadMeta<DetectionMetaTraits>;

using NpuFrameMeta = PayloadMeta<FrameMetaTraits>;
using NpuModelInputMeta = PayloadMeta<ModelInputMetaTraits>;
using NpuTensorMeta = PayloadMeta<TensorMetaTraits>;
using NpuDetectionMeta = PayloadMeta<DetectionMetaTraits>;

// Attaches the result and its mirror: one GstVideoRegionOfInterestMeta per object, roi_type = label, with a parameter
// structure "detection" (confidence, label_id, label, x_min, y_min, x_max, y_max normalised to 0 … 1).
void AttachDetections(GstBuffer* buffer, DetectionResult result);

// Notes in the buffer's NpuFrameMeta why it has no detections; adds one when there is none. The buffer must be
// writable.
void MarkSkipped(GstBuffer* buffer, InferenceSkipped reason);

}  // namespace npustream::elements
