#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "elements/postprocess/box_decoder.h"
#include "elements/postprocess/detection.h"
#include "elements/postprocess/nms.h"
#include "elements/preprocess/geometry.h"
#include "runtime/serving/model_description.h"

namespace npustream::elements {

struct PostprocessOptions {
  float threshold = 0.4f;  // least confidence
  NmsOptions nms;
};

// The options which a model's description asks for.
PostprocessOptions OptionsOf(const serving::ModelDescription& description);

// From output tensors to the objects of a frame: decode, suppress, bring back to the frame, clip. Immutable; Process
// may be called from several threads.
class Postprocessor {
 public:
  // kInvalidArgument when the outputs do not fit the description's decoder or an option is out of range (threshold and
  // IoU 0 … 1, max_detections at least 1).
  static Result<std::unique_ptr<Postprocessor>> Create(const serving::ModelDescription& description,
                                                       std::span<const OutputShape> outputs, int input_width,
                                                       int input_height, const PostprocessOptions& options);

  // `tensors` are the outputs of one image in the order of `outputs`, host memory, float32. Gives objects in pixels of
  // the frame, within it, best confidence first. Boxes that lie outside the frame altogether are left out.
  std::vector<Detection> Process(std::span<const float* const> tensors, const PictureTransform& transform) const;

 private:
  Postprocessor(std::unique_ptr<BoxDecoder> decoder, const PostprocessOptions& options)
      : decoder_(std::move(decoder)), options_(options) {}

  const std::unique_ptr<BoxDecoder> decoder_;
  const PostprocessOptions options_;
};

}  // namespace npustream::elements
