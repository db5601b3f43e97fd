#include "npu_sim/compiler/passes/merge_reshapes.h"

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/passes/remove_identities.h"

namespace npustream::compiler {
namespace {

// Whether the axes longer than 1 keep their order: then the bytes stay where they are.
bool KeepsBytes(const om::Dims& dims, const std::vector<int64_t>& perm) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

std::vector<int64_t> Compose(const std::vector<int64_t>& first, const std::vector<int64_t>& second) {
  std::vector<int64_t> both;
  for (const int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
  return both;
}

void MergeInto(const om::Graph& graph, const Uses& uses, om::Node& node) {
  if (node.op == "Transpose") {
    if (const om::Node* first = ProducerOf(graph, uses, node.inputs[0], "Transpose")) {
      node.attributes["perm"] = Compose(om::GetInts(*first, "perm"), om::GetInts(node, "perm"));
      node.inputs[0] = first->inputs[0];
    }
    if (!KeepsBytes(TensorOf(graph, node.inputs[0]).dims, om::GetInts(node, "perm"))) return;
    node.op = "Reshape";
    node.attributes.clear();
  }
  if (node.op != "Reshape") return;
  if (const om::Node* first = ProducerOf(graph, uses, node.inputs[0], "Reshape")) node.inputs[0] = first->inputs[0];
}

}  // namespace

Status MergeReshapes(om::Graph& graph) {
  const Uses uses(graph);
  // Front to back, so that each finds the one before it already merged.
  for (om::Node& node : graph.nodes) MergeInto(graph, uses, node);
  return RemoveIdentities(graph);
}

}  // namespace npustream::compiler
