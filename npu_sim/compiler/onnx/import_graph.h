#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/onnx/import_context.h"
#include "npu_sim/compiler/onnx/onnx_model.h"

namespace npustream::compiler {

// The nodes that `outputs` depend on, in order. `state` has the tensors of the graph around this one, which it may read.
// One error names all the nodes whose operators nothing imports.
Result<std::vector<const OnnxNode*>> NodesToImport(const OnnxGraph& graph, const std::vector<std::string>& outputs,
                                                   const ImportState& state);

// Imports them, one after the other.
Status ImportNodes(const OnnxGraph& graph, const std::vector<const OnnxNode*>& nodes, ImportState& state);

// Lets a graph's constants be tensors.
void ImportInitializers(const OnnxGraph& graph, ImportState& state);

// A branch or body, whole, over these inputs: its outputs. Its names end with it.
Result<std::vector<om::TensorId>> ImportBranch(const OnnxGraph& branch, const std::vector<om::TensorId>& inputs,
                                               ImportState& state);

}  // namespace npustream::compiler
