#include "npu_sim/compiler/passes/fuse_silu.h"

#include <cmath>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

constexpr float kSixth = 1.0f / 6.0f;

class Matcher {
 public:
  explicit Matcher(const om::Graph& graph) : graph_(graph), uses_(graph) {}

  // What `node` computes as one activation; nothing when it is none. op, inputs and attributes are set.
  std::optional<om::Node> Match(const om::Node& node) const {
    if (node.op != "Mul" && node.op != "Div") return std::nullopt;
    if (HasActivation(node)) return std::nullopt;
    if (auto match = MatchHardSigmoid(node)) return match;
    if (auto match = MatchScaledHardSwish(node)) return match;
    if (node.op != "Mul") return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      if (auto match = MatchGate(node.inputs[i], node.inputs[1 - i])) return match;
    }
    return MatchGelu(node);
  }

 private:
  const om::Node* Producer(om::TensorId id, const char* op) const { return ProducerOf(graph_, uses_, id, op); }

  static om::Node Activation(const char* op, om::TensorId x, om::Attributes attributes = {}) {
    om::Node node;
    node.op = op;
    node.inputs = {x};
    node.attributes = std::move(attributes);
    return node;
  }

  // The tensor that `node` multiplies by `factor`, as a product or a quotient.
  std::optional<om::TensorId> ScaledBy(const om::Node& node, float factor) const {
    if (HasActivation(node)) return std::nullopt;
    if (node.op == "Div" && IsScalar(graph_, node.inputs[1], 1 / factor)) return node.inputs[0];
    if (node.op != "Mul") return std::nullopt;
    const std::optional<ScalarOperand> split = SplitScalar(graph_, node);
    if (!split || std::fabs(split->scalar - factor) > 1e-5f * factor) return std::nullopt;
    return split->tensor;
  }

  // x of Clip(x + 3, 0, 6).
  std::optional<om::TensorId> ClippedShift(om::TensorId id) const {
    const om::Node* clip = Producer(id, "Clip");
    if (clip == nullptr || om::GetFloat(*clip, "min", -1) != 0 || om::GetFloat(*clip, "max", -1) != 6) {
      return std::nullopt;
    }
    const om::Node* add = Producer(clip->inputs[0], "Add");
    if (add == nullptr || HasActivation(*add)) return std::nullopt;
    const std::optional<ScalarOperand> split = SplitScalar(graph_, *add);
    return split && split->scalar == 3 ? std::optional(split->tensor) : std::nullopt;
  }

  std::optional<om::Node> MatchHardSigmoid(const om::Node& node) const {
    const std::optional<om::TensorId> clipped = ScaledBy(node, kSixth);
    const std::optional<om::TensorId> x = clipped ? ClippedShift(*clipped) : std::nullopt;
    if (!x) return std::nullopt;
    return Activation("HardSigmoid", *x, {{"alpha", kSixth}, {"beta", 0.5f}});
  }

  // (x · Clip(x + 3, 0, 6)) / 6
  std::optional<om::Node> MatchScaledHardSwish(const om::Node& node) const {
    const std::optional<om::TensorId> scaled = ScaledBy(node, kSixth);
    const om::Node* product = scaled ? Producer(*scaled, "Mul") : nullptr;
    if (product == nullptr || HasActivation(*product)) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const std::optional<om::TensorId> x = ClippedShift(product->inputs[1 - i]);
      if (x && *x == product->inputs[i]) return Activation("HardSwish", *x);
    }
    return std::nullopt;
  }

  // x · gate, where the gate is made of x.
  std::optional<om::Node> MatchGate(om::TensorId x, om::TensorId gate) const {
    if (const om::Node* sigmoid = Producer(gate, "Sigmoid"); sigmoid != nullptr && sigmoid->inputs[0] == x) {
      return Activation("Silu", x);
    }
    if (const om::Node* hard = Producer(gate, "HardSigmoid"); hard != nullptr && hard->inputs[0] == x) {
      const bool standard = std::fabs(om::GetFloat(*hard, "alpha", 0.2f) - kSixth) < 1e-6f &&
                            std::fabs(om::GetFloat(*hard, "beta", 0.5f) - 0.5f) < 1e-6f;
      if (standard) return Activation("HardSwish", x);
    }
    if (const om::Node* tanh = Producer(gate, "Tanh")) {
      const om::Node* softplus = Producer(tanh->inputs[0], "Softplus");
      if (softplus != nullptr && softplus->inputs[0] == x) return Activation("Mish", x);
    }
    return std::nullopt;
  }

  // x of 1 + Erf(x / √2).
  std::optional<om::TensorId> ErfGate(om::TensorId id) const {
    const om::Node* add = Producer(id, "Add");
    if (add == nullptr || HasActivation(*add)) return std::nullopt;
    const std::optional<ScalarOperand> one = SplitScalar(graph_, *add);
    const om::Node* erf = one && one->scalar == 1 ? Producer(one->tensor, "Erf") : nullptr;
    if (erf == nullptr) return std::nullopt;
    for (const char* op : {"Div", "Mul"}) {
      const om::Node* scale = Producer(erf->inputs[0], op);
      if (scale != nullptr) return ScaledBy(*scale, static_cast<float>(M_SQRT1_2));
    }
    return std::nullopt;
  }

  // (x · gate) / 2, or (x / 2) · gate, or x · (gate / 2).
  std::optional<om::Node> MatchGelu(const om::Node& node) const {
    if (const auto product_id = ScaledBy(node, 0.5f)) {
      const om::Node* product = Producer(*product_id, "Mul");
      if (product == nullptr || HasActivation(*product)) return std::nullopt;
      for (const size_t i : {size_t{0}, size_t{1}}) {
        const auto x = ErfGate(product->inputs[1 - i]);
        if (x && *x == product->inputs[i]) return Gelu(*x);
      }
    }
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const om::Node* half = Producer(node.inputs[i], "Mul");
      const auto halved = half != nullptr ? ScaledBy(*half, 0.5f) : std::nullopt;
      if (!halved) continue;
      const auto x_of_other = ErfGate(node.inputs[1 - i]);
      if (x_of_other && *x_of_other == *halved) return Gelu(*halved);
      const auto x_of_halved = ErfGate(*halved);
      if (x_of_halved && *x_of_halved == node.inputs[1 - i]) return Gelu(*x_of_halved);
    }
    return std::nullopt;
  }

  static om::Node Gelu(om::TensorId x) { return Activation("Gelu", x, {{"approximate", std::string("none")}}); }

  const om::Graph& graph_;
  const Uses uses_;
};

}  // namespace

Status FuseSilu(om::Graph& graph) {
  const Matcher matcher(graph);
  for (om::Node& node : graph.nodes) {
    std::optional<om::Node> match = matcher.Match(node);
    if (!match) continue;
    // One element per element: a product that broadcast its factors is not an activation of x.
    if (TensorOf(graph, match->inputs[0]).dims != TensorOf(graph, node.outputs[0]).dims) continue;
    node.op = std::move(match->op);
    node.inputs = std::move(match->inputs);
    node.attributes = std::move(match->attributes);
  }
  return {};
}

}  // namespace npustream::compiler
