#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

struct ImportOptions {
  // The shape of each input; inputs that are not named keep the shape of the file. All dims are positive.
  std::map<std::string, om::Dims> input_shapes;
  // What becomes an output of the graph instead of the file's outputs: names of tensors, in this order.
  std::vector<std::string> outputs;
};

// Turns a model into a graph with static shapes. Nodes that no output needs are left out. Errors are sentences:
//   kUnsupported names every node whose operator has no importer, and then what an importer refused;
//   kInvalidArgument: a shape is missing, or does not suit the model;
//   kCorruptData: cycles, tensors that nothing produces or that two nodes write.
Result<om::Graph> ImportModel(const OnnxModel& model, const ImportOptions& options);

}  // namespace npustream::compiler
