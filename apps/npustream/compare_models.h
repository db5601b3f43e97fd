#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/aipp_config.h"
#include "npu_sim/om/graph.h"

namespace npustream::apps {

// How far a tensor of an offline model is from the same tensor of the ONNX model.
struct TensorComparison {
  std::string node, op;  // of the offline model
  std::string tensor;    // the ONNX model's name
  om::Dims dims;
  bool is_output = false;
  double cosine = 1;
  double max_error = 0, mean_error = 0;  // absolute
  double relative_error = 0;             // norm of the difference over norm of the ONNX model's values
};

struct ModelComparison {
  std::vector<TensorComparison> tensors;  // in the order of the offline model's steps
  // Tensors of the ONNX model that the offline model does not have: nodes were fused or computed when it was made.
  std::vector<std::string> gone;

  // The first tensor whose relative error is above `threshold`; null when there is none.
  const TensorComparison* FirstOver(double threshold) const;
  bool OutputsWithin(double threshold) const;
};

// The two models side by side, every tensor kept: ONNX as it stands in the file, in float32 without any optimisation, and
// the graph of the OM's first plan.
class ModelPair {
 public:
  // kInvalidArgument when the OM is not made from such a model: other inputs or outputs.
  static Result<ModelPair> Load(const std::filesystem::path& onnx, const std::filesystem::path& om);

  // The inputs of both: pictures where the OM has AIPP.
  std::vector<om::Tensor> Inputs() const;
  // Runs both on the contents of the inputs. `dump`, if any, is a folder that gets every tensor that is compared as
  // onnx_NAME.npy and om_NAME.npy.
  Result<ModelComparison> Compare(const std::vector<om::Bytes>& inputs, const std::filesystem::path& dump) const;

 private:
  om::Graph reference_, offline_;
};

}  // namespace npustream::apps
