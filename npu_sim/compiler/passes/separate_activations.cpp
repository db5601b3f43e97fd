#include "npu_sim/compiler/passes/separate_activations.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

bool IsTabulated(std::string_view activation) {
  constexpr std::string_view kOps[] = {"Elu", "Gelu", "HardSigmoid", "HardSwish", "Mish", "Sigmoid", "Silu", "Tanh"};
  return std::find(std::begin(kOps), std::end(kOps), activation) != std::end(kOps);
}

}  // namespace

Status SeparateActivations(om::Graph& graph) {
  std::vector<om::Node> nodes;
  for (om::Node& node : graph.nodes) {
    const std::string activation = om::GetString(node, "activation", "");
    if (node.op != "Conv" || !IsTabulated(activation)) {
      nodes.push_back(std::move(node));
      continue;
    }
    const om::TensorId result = node.outputs[0];
    om::Tensor before = TensorOf(graph, result);
    om::Node function{node.name + "_" + activation, activation, {}, {result}, {}};
    if (activation == "Elu" || activation == "HardSigmoid")
      function.attributes["alpha"] = om::GetFloat(node, "activation_alpha", 0);
    if (activation == "HardSigmoid") function.attributes["beta"] = om::GetFloat(node, "activation_beta", 0);
    for (const char* name : {"activation", "activation_alpha", "activation_beta"}) node.attributes.erase(name);
    before.name += kBeforeActivation;
    node.outputs[0] = AddTensor(graph, std::move(before));
    function.inputs = {node.outputs[0]};
    nodes.push_back(std::move(node));
    nodes.push_back(std::move(function));
  }
  graph.nodes = std::move(nodes);
  return {};
}

om::TensorId BeforeFunction(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  const int producer = uses.Producer(id);
  if (producer < 0 || graph.nodes[static_cast<size_t>(producer)].inputs.size() != 1) return om::kNoTensor;
  const om::TensorId before = graph.nodes[static_cast<size_t>(producer)].inputs[0];
  return TensorOf(graph, before).name.ends_with(kBeforeActivation) ? before : om::kNoTensor;
}

}  // namespace npustream::compiler
