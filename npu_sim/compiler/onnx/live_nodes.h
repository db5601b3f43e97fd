#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/onnx/onnx_model.h"

namespace npustream::compiler {

// The nodes that the tensors `outputs` depend on, each after those whose results it reads and otherwise in the file's
// order. kCorruptData names a cycle, a tensor that nothing produces, or one that two nodes write.
Result<std::vector<const OnnxNode*>> LiveNodesInOrder(const OnnxGraph& graph, const std::vector<std::string>& outputs);

}  // namespace npustream::compiler
