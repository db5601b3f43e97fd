#include "npu_sim/compiler/passes/remove_identities.h"

#include <algorithm>
#include <string_view>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

bool KeepsDims(const om::Graph& graph, const om::Node& node) {
  return TensorOf(graph, node.inputs[0]).dims == TensorOf(graph, node.outputs[0]).dims;
}

bool InOrder(const std::vector<int64_t>& perm) { return std::is_sorted(perm.begin(), perm.end()); }

bool AllOnes(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 1; });
}

// The input that is handed on; kNoTensor when the node does something.
om::TensorId HandedOn(const om::Graph& graph, const om::Node& node) {
  const om::TensorId first = node.inputs.empty() ? om::kNoTensor : node.inputs[0];
  if (first == om::kNoTensor || node.outputs.size() != 1) return om::kNoTensor;
  const std::string_view op = node.op;
  const auto first_if = [first](bool idle) { return idle ? first : om::kNoTensor; };
  if (op == "Reshape" || op == "Expand" || op == "Tile" || op == "Pad") return first_if(KeepsDims(graph, node));
  if (op == "Transpose") return first_if(InOrder(om::GetInts(node, "perm")));
  if (op == "Cast") return first_if(TensorOf(graph, first).type == TensorOf(graph, node.outputs[0]).type);
  if (op == "Concat" || op == "Split") return first_if(node.inputs.size() == 1);
  if (op == "Slice") return first_if(KeepsDims(graph, node) && AllOnes(om::GetInts(node, "steps")));
  if (op == "Clip") return first_if(node.attributes.count("min") == 0 && node.attributes.count("max") == 0);
  if ((op == "Add" || op == "Mul") && !HasActivation(node)) {
    const std::optional<ScalarOperand> split = SplitScalar(graph, node);
    const bool idle = split && split->scalar == (op == "Add" ? 0.0f : 1.0f);
    const bool same_dims = idle && TensorOf(graph, split->tensor).dims == TensorOf(graph, node.outputs[0]).dims;
    return same_dims ? split->tensor : om::kNoTensor;
  }
  return om::kNoTensor;
}

}  // namespace

Status RemoveIdentities(om::Graph& graph) {
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const om::TensorId input = HandedOn(graph, graph.nodes[n]);
    if (input != om::kNoTensor) dead[n] = ReplaceTensor(graph, graph.nodes[n].outputs[0], input);
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
