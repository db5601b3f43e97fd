#include "elements/postprocess/npu_postprocess.h"

#include <algorithm>

#include <fmt/format.h>

namespace npustream::elements {
namespace {

Status CheckFraction(std::string_view name, float value) {
  if (value >= 0.0f && value <= 1.0f) return Status();
  return Status(StatusCode::kInvalidArgument, fmt::format("{} is {}, it must be between 0 and 1", name, value));
}

}  // namespace

PostprocessOptions OptionsOf(const serving::ModelDescription& description) {
  PostprocessOptions options;
  options.threshold = description.threshold;
  options.nms.iou_limit = description.nms_iou;
  options.nms.agnostic = description.nms_agnostic;
  options.nms.max_detections = description.max_detections;
  return options;
}

Result<std::unique_ptr<Postprocessor>> Postprocessor::Create(const serving::ModelDescription& description,
                                                             std::span<const OutputShape> outputs, int input_width,
                                                             int input_height, const PostprocessOptions& options) {
  NPUSTREAM_RETURN_IF_ERROR(CheckFraction("the threshold", options.threshold));
  NPUSTREAM_RETURN_IF_ERROR(CheckFraction("the IoU limit", options.nms.iou_limit));
  if (options.nms.max_detections < 1) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("max_detections is {}, it must be at least 1", options.nms.max_detections));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<BoxDecoder> decoder,
                             BoxDecoder::Create(description.decoder, outputs, input_width, input_height,
                                                static_cast<int>(description.labels.size())));
  return std::unique_ptr<Postprocessor>(new Postprocessor(std::move(decoder), options));
}

std::vector<Detection> Postprocessor::Process(std::span<const float* const> tensors,
                                              const PictureTransform& transform) const {
  std::vector<Detection> candidates;
  decoder_->Decode(tensors, options_.threshold, candidates);
  std::vector<Detection> objects = SuppressNonMaxima(std::move(candidates), options_.nms);
  for (Detection& object : objects) {
    object.box = transform.ClipToFrame(transform.ToFrame(object.box));
    for (Landmark& point : object.landmarks) point = transform.ToFrame(point);
  }
  std::erase_if(objects, [](const Detection& object) {
    return !(object.box.x_max > object.box.x_min) || !(object.box.y_max > object.box.y_min);
  });
  return objects;
}

}  // namespace npustream::elements
