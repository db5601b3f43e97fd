#include "npu_sim/compiler/passes/fuse_conv_activation.h"

#include <limits>
#include <string_view>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

bool TakesActivation(const om::Node& node) {
  const std::string_view op = node.op;
  return (op == "Conv" || op == "ConvTranspose" || op == "Gemm" || op == "MatMul" || op == "Add") && !HasActivation(node);
}

struct ActivationSpec {
  float alpha = 0, beta = 0;
};

// The parameters of a node that can be fused as an activation.
std::optional<ActivationSpec> ReadActivation(const om::Node& node) {
  const std::string_view op = node.op;
  constexpr float kLowest = std::numeric_limits<float>::lowest(), kHighest = std::numeric_limits<float>::max();
  if (op == "Clip") return ActivationSpec{om::GetFloat(node, "min", kLowest), om::GetFloat(node, "max", kHighest)};
  if (op == "LeakyRelu") return ActivationSpec{om::GetFloat(node, "alpha", 0.01f), 0};
  if (op == "Elu") return ActivationSpec{om::GetFloat(node, "alpha", 1.0f), 0};
  if (op == "HardSigmoid") return ActivationSpec{om::GetFloat(node, "alpha", 0.2f), om::GetFloat(node, "beta", 0.5f)};
  if (op == "Gelu") return ActivationSpec{om::GetString(node, "approximate", "none") == "tanh" ? 1.0f : 0.0f, 0};
  for (const std::string_view plain : {"Relu", "Sigmoid", "Tanh", "Silu", "HardSwish", "Mish"}) {
    if (op == plain) return ActivationSpec{};
  }
  return std::nullopt;
}

}  // namespace

Status FuseConvActivation(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    om::Node& target = graph.nodes[n];
    if (!TakesActivation(target) || TensorOf(graph, target.outputs[0]).type != om::DataType::kFloat32) continue;
    int reader = uses.OnlyConsumer(target.outputs[0]);
    // What a product's rows are reshaped to does not matter to a function of each element.
    om::Node* const shape = reader >= 0 && graph.nodes[static_cast<size_t>(reader)].op == "Reshape"
                                ? &graph.nodes[static_cast<size_t>(reader)]
                                : nullptr;
    if (shape) reader = uses.OnlyConsumer(shape->outputs[0]);
    if (reader < 0) continue;
    const om::Node& activation = graph.nodes[static_cast<size_t>(reader)];
    const std::optional<ActivationSpec> spec = ReadActivation(activation);
    if (!spec) continue;
    target.attributes["activation"] = activation.op;
    target.attributes["activation_alpha"] = spec->alpha;
    target.attributes["activation_beta"] = spec->beta;
    (shape ? *shape : target).outputs[0] = activation.outputs[0];
    dead[static_cast<size_t>(reader)] = true;
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
