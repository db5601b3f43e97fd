#include "npu_sim/compiler/passes/fold_constants.h"

#include <algorithm>

#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

constexpr size_t kAlwaysFoldBytes = size_t{16} << 20;

bool AllInputsConstant(const om::Graph& graph, const om::Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](om::TensorId id) { return id == om::kNoTensor || TensorOf(graph, id).is_constant(); });
}

bool WorthFolding(const om::Graph& graph, const om::Node& node) {
  size_t in = 0, out = 0;
  for (const om::TensorId id : node.inputs) in += id == om::kNoTensor ? 0 : TensorOf(graph, id).ByteSize();
  for (const om::TensorId id : node.outputs) out += id == om::kNoTensor ? 0 : TensorOf(graph, id).ByteSize();
  return out <= std::max(in, kAlwaysFoldBytes);
}

bool IsGraphOutput(const om::Graph& graph, const om::Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](om::TensorId id) {
    return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  });
}

// True when the node's results are constants now.
bool Fold(om::Graph& graph, const om::Node& node) {
  if (node.op == "Reshape") {
    TensorOf(graph, node.outputs[0]).constant = TensorOf(graph, node.inputs[0]).constant;
    return true;
  }
  Result<std::vector<om::Bytes>> contents = program::EvaluateNode(graph, node);
  if (!contents.ok()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == om::kNoTensor) continue;
    TensorOf(graph, node.outputs[i]).constant = std::make_shared<const om::Bytes>(std::move((*contents)[i]));
  }
  return true;
}

}  // namespace

Status FoldConstants(om::Graph& graph) {
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const om::Node& node = graph.nodes[n];
    // A model's output has to be written by somebody: a constant one stays the copy that the importer made.
    if (!AllInputsConstant(graph, node) || IsGraphOutput(graph, node) || !WorthFolding(graph, node)) continue;
    dead[n] = Fold(graph, node);
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
