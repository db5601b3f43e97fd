#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/quantize/quantization_scheme.h"

namespace npustream::compiler {

// What a model is shown so that the ranges of its values are known.
struct CalibrationData {
  // The content of every input of the model, as many samples in a row as there are. A sample is one image, or a batch
  // for a model that does not treat images one by one.
  std::vector<om::Bytes> inputs;
  size_t most_images = 0;  // how many of the samples are used; 0: all
  // Whether they are what the compiled model takes, with AIPP (pictures), or what the model file takes.
  bool through_aipp = false;
};

struct QuantizationOptions {
  // Nothing: the one with the least error of the heads. The default scored best on the detectors that it was tried on.
  std::optional<RangeMethod> method = RangeMethod::kLeastSquares;
  double percentile = 99.99;
  bool tables = true;  // QuantizationScheme::tables
  std::set<std::string> real_nodes;  // what stays on real numbers in any case, see StaysReal
  // Layers go back to real numbers, the most harmful first, until the error of the heads (layers that no other layer on
  // bytes reads) is no larger: √(Σ difference² / Σ real²) of each, then the root of the mean square over them.
  double error_limit = 0.15;
  std::function<void(const std::string&)> notify;  // told what takes time; may be empty
};

// Quantises a model after its training: runs it on real numbers over the samples, chooses ranges, compares the
// quantised network with the real one. The scheme goes into CompileOptions::quantization, with otherwise the same
// options. The same input gives the same scheme. kInvalidArgument when there are no samples, when they do not fit the
// model, or when it is quantised already.
Result<QuantizationScheme> PlanQuantization(const OnnxModel& model, const CompileOptions& options,
                                            const CalibrationData& data, const QuantizationOptions& quantization);

}  // namespace npustream::compiler
