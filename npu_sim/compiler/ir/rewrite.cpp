#include "npu_sim/compiler/ir/rewrite.h"

#include <algorithm>

namespace npustream::compiler {

Uses::Uses(const om::Graph& graph)
    : producers_(graph.tensors.size(), -1), consumers_(graph.tensors.size()), is_output_(graph.tensors.size()) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const om::TensorId id : graph.nodes[n].inputs) {
      if (id != om::kNoTensor) consumers_[static_cast<size_t>(id)].push_back(static_cast<int>(n));
    }
    for (const om::TensorId id : graph.nodes[n].outputs) {
      if (id != om::kNoTensor) producers_[static_cast<size_t>(id)] = static_cast<int>(n);
    }
  }
  for (const om::TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
}

int Uses::OnlyConsumer(om::TensorId id) const {
  if (id == om::kNoTensor || IsGraphOutput(id) || Consumers(id).size() != 1) return -1;
  return Consumers(id).front();
}

om::TensorId AddTensor(om::Graph& graph, om::Tensor tensor) {
  graph.tensors.push_back(std::move(tensor));
  return static_cast<om::TensorId>(graph.tensors.size() - 1);
}

bool ReplaceTensor(om::Graph& graph, om::TensorId from, om::TensorId to) {
  const auto is_in = [](const std::vector<om::TensorId>& ids, om::TensorId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  if (is_in(graph.outputs, from)) {
    if (is_in(graph.inputs, to) || is_in(graph.outputs, to) || TensorOf(graph, to).is_constant()) return false;
    std::swap(TensorOf(graph, to).name, TensorOf(graph, from).name);
  }
  for (om::Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(graph.outputs.begin(), graph.outputs.end(), from, to);
  return true;
}

void EraseNodes(om::Graph& graph, const std::vector<bool>& dead) {
  size_t kept = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (dead[n]) continue;
    if (kept != n) graph.nodes[kept] = std::move(graph.nodes[n]);
    ++kept;
  }
  graph.nodes.resize(kept);
}

}  // namespace npustream::compiler
