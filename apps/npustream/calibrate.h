#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/quantize/plan_quantization.h"
#include "runtime/serving/model_store.h"

namespace npustream::apps {

// A model that is to be quantised with pictures.
struct CalibrationRequest {
  serving::ModelRequest model;  // names an ONNX file, or a description of one
  std::string images;           // folder of pictures, picture, video or URI
  size_t count = 32;            // pictures at most
  int interval = 10;            // of a video every how many-th frame
  compiler::QuantizationOptions options;
};

struct Calibrated {
  compiler::OnnxModel model;
  // What atc would compile the model with, pictures through AIPP, before it is quantised.
  compiler::CompileOptions options;
  compiler::QuantizationScheme scheme;
};

// Shows its progress on a terminal. `om` is the file that is to be written, whose name becomes the model's.
Result<Calibrated> Calibrate(const CalibrationRequest& request, const std::filesystem::path& om);

}  // namespace npustream::apps
