#include "npu_sim/compiler/passes/remove_dead_code.h"

#include <algorithm>
#include <deque>

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {
namespace {

void MarkNeeded(std::vector<bool>& needed, const std::vector<om::TensorId>& ids) {
  for (const om::TensorId id : ids) {
    if (id != om::kNoTensor) needed[static_cast<size_t>(id)] = true;
  }
}

void EraseUnreadNodes(om::Graph& graph) {
  std::vector<bool> needed(graph.tensors.size());
  MarkNeeded(needed, graph.outputs);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const om::Node& node = graph.nodes[n];
    dead[n] = std::none_of(node.outputs.begin(), node.outputs.end(),
                           [&](om::TensorId id) { return id != om::kNoTensor && needed[static_cast<size_t>(id)]; });
    if (!dead[n]) MarkNeeded(needed, node.inputs);
  }
  EraseNodes(graph, dead);
}

void EraseUnnamedTensors(om::Graph& graph) {
  std::vector<bool> needed(graph.tensors.size());
  MarkNeeded(needed, graph.inputs);
  MarkNeeded(needed, graph.outputs);
  for (const om::Node& node : graph.nodes) {
    MarkNeeded(needed, node.inputs);
    MarkNeeded(needed, node.outputs);
  }
  std::vector<om::TensorId> moved(graph.tensors.size(), om::kNoTensor);
  std::deque<om::Tensor> kept;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<om::TensorId>(kept.size());
    kept.push_back(std::move(graph.tensors[i]));
  }
  graph.tensors = std::move(kept);
  const auto renumber = [&](std::vector<om::TensorId>& ids) {
    for (om::TensorId& id : ids) id = id == om::kNoTensor ? id : moved[static_cast<size_t>(id)];
  };
  renumber(graph.inputs);
  renumber(graph.outputs);
  for (om::Node& node : graph.nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
}

}  // namespace

Status RemoveDeadCode(om::Graph& graph) {
  EraseUnreadNodes(graph);
  EraseUnnamedTensors(graph);
  return {};
}

}  // namespace npustream::compiler
