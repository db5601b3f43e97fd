#include "npu_sim/compiler/passes/move_transpose_up.h"

#include <algorithm>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

// The node that makes the parts' join, when it is used by `transpose` alone and joins along a spatial axis.
om::Node* FindJoin(om::Graph& graph, const Uses& uses, const om::Node& transpose) {
  const om::TensorId joined = transpose.inputs[0];
  const int producer = uses.Producer(joined);
  if (producer < 0 || uses.OnlyConsumer(joined) < 0) return nullptr;
  om::Node& concat = graph.nodes[static_cast<size_t>(producer)];
  if (concat.op != "Concat" || om::GetInt(concat, "axis", 0) < 2) return nullptr;
  for (const om::TensorId part : concat.inputs) {
    if (TensorOf(graph, part).is_constant()) return nullptr;
  }
  return &concat;
}

}  // namespace

Status MoveTransposeUp(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<om::Node> nodes;
  std::vector<bool> replaced(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != "Transpose") continue;
    const om::Node* concat = FindJoin(graph, uses, graph.nodes[i]);
    if (concat) replaced[static_cast<size_t>(uses.Producer(graph.nodes[i].inputs[0]))] = true;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (replaced[i]) continue;  // comes with its transposition
    om::Node node = graph.nodes[i];
    om::Node* concat = node.op == "Transpose" ? FindJoin(graph, uses, node) : nullptr;
    if (!concat) {
      nodes.push_back(std::move(node));
      continue;
    }
    const auto perm = om::GetInts(node, "perm");
    const int64_t axis = om::GetInt(*concat, "axis", 0);
    om::Node join = *concat;
    join.attributes["axis"] = static_cast<int64_t>(std::find(perm.begin(), perm.end(), axis) - perm.begin());
    join.outputs = node.outputs;
    for (om::TensorId& part : join.inputs) {
      om::Tensor turned = TensorOf(graph, part);
      for (size_t a = 0; a < perm.size(); ++a)
        turned.dims[a] = TensorOf(graph, part).dims[static_cast<size_t>(perm[a])];
      turned.name += ":transposed";
      const om::TensorId id = AddTensor(graph, std::move(turned));
      nodes.push_back({node.name + ":" + std::to_string(id), "Transpose", {part}, {id}, node.attributes});
      part = id;
    }
    nodes.push_back(std::move(join));
  }
  graph.nodes = std::move(nodes);
  return {};
}

}  // namespace npustream::compiler
