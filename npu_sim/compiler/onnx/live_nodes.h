#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/onnx/onnx_model.h"

namespace npustream::compiler {

// The tensors that a node reads, also those that its subgraphs take from the graph around them.
std::vector<std::string> NamesReadBy(const OnnxNode& node);

// The nodes that the tensors `outputs` depend on, each after those whose results it reads and otherwise in the file's
// order. Tensors for which `is_around` holds come from the graph around this one. kCorruptData names a cycle, a tensor that nothing produces, or one that two nodes write.
Result<std::vector<const OnnxNode*>> LiveNodesInOrder(
    const OnnxGraph& graph, const std::vector<std::string>& outputs,
    const std::function<bool(const std::string&)>& is_around = [](const std::string&) { return false; });

}  // namespace npustream::compiler
