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
  // By sample, the content of every input of the model. All of a batch together for a model that does not treat images
  // one by one; else one image.
  std::vector<std::vector<om::Bytes>> samples;
  // Whether they are what the compiled model takes, with AIPP (pictures), or what the model file takes.
  bool through_aipp = false;
};

struct QuantizationOptions {
  std::optional<RangeMethod> method;  // nothing: the one with the least error of the outputs
  double percentile = 99.99;
  bool tables = true;  // QuantizationScheme::tables
  std::set<std::string> real_nodes;  // what stays on real numbers in any case, see StaysReal
  // Layers go back to real numbers, the most harmful first, until the error of the outputs (√(Σ difference² / Σ real²),
  // the worst output's) is no larger.
  double error_limit = 0.2;
  std::function<void(const std::string&)> notify;  // told what takes time; may be empty
};

// Quantises a model after its training: runs it on real numbers over the samples, chooses ranges, compares the
// quantised network with the real one. The scheme goes into CompileOptions::quantization, with otherwise the same
// options. The same input gives the same scheme. kInvalidArgument when there are no samples or they do not fit the model.
Result<QuantizationScheme> PlanQuantization(const OnnxModel& model, const CompileOptions& options,
                                            const CalibrationData& data, const QuantizationOptions& quantization);

}  // namespace npustream::compiler
