#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "elements/postprocess/detection.h"
#include "runtime/serving/model_description.h"

namespace npustream::elements {

// Name and shape of a model output (axis 0 is the batch and 1), float32.
struct OutputShape {
  std::string name;
  std::vector<int64_t> dims;
};

// Reads candidates from a model's output tensors. Immutable; Decode may be called from several threads.
class BoxDecoder {
 public:
  // Finds the outputs' roles by name or shape; kInvalidArgument with a sentence when they do not fit the decoder.
  // `class_count` is the number of labels, 0 when there is no label list.
  static Result<std::unique_ptr<BoxDecoder>> Create(const serving::DecoderDescription& description,
                                                    std::span<const OutputShape> outputs, int input_width,
                                                    int input_height, int class_count);
  // kInvalidArgument when there is no such decoder, or when it takes no numbers or output roles of the given names.
  // Create says so too.
  static Status CheckDescription(const serving::DecoderDescription& description);
  virtual ~BoxDecoder() = default;

  // Appends every candidate with confidence ≥ threshold, in pixels of the model's input, in a fixed order.
  // `tensors` are the outputs of one image in the order of `outputs`. Candidates whose confidence or box is not finite
  // or whose box is empty are left out. A cell gives at most one candidate, that of its best class (the lowest on
  // ties).
  virtual void Decode(std::span<const float* const> tensors, float threshold,
                      std::vector<Detection>& candidates) const = 0;
};

// The decoders which Create knows, sorted; README.md of this folder says what each reads.
std::vector<std::string_view> BoxDecoderNames();

}  // namespace npustream::elements
