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
    if (HasActivation(node)) return std::nullopt;
    if (node.op == "Max") return MatchLeakyRelu(node);
    if (node.op == "Clip") return MatchUnitClip(node);
    if (node.op != "Mul" && node.op != "Div") return std::nullopt;
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

  // Max(x, αx) with 0 ≤ α ≤ 1
  std::optional<om::Node> MatchLeakyRelu(const om::Node& node) const {
    if (node.inputs.size() != 2) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const om::Node* mul = Producer(node.inputs[i], "Mul");
      const auto split = mul != nullptr && !HasActivation(*mul) ? SplitScalar(graph_, *mul) : std::nullopt;
      if (!split || split->tensor != node.inputs[1 - i] || split->scalar < 0 || split->scalar > 1) continue;
      return Activation("LeakyRelu", split->tensor, {{"alpha", split->scalar}});
    }
    return std::nullopt;
  }

  // Clip(αx + β, 0, 1)
  std::optional<om::Node> MatchUnitClip(const om::Node& node) const {
    if (om::GetFloat(node, "min", -1) != 0 || om::GetFloat(node, "max", -1) != 1) return std::nullopt;
    const om::Node* add = Producer(node.inputs[0], "Add");
    const auto shift = add != nullptr && !HasActivation(*add) ? SplitScalar(graph_, *add) : std::nullopt;
    const om::Node* mul = shift ? Producer(shift->tensor, "Mul") : nullptr;
    const auto scale = mul != nullptr && !HasActivation(*mul) ? SplitScalar(graph_, *mul) : std::nullopt;
    if (!scale) return std::nullopt;
    return Activation("HardSigmoid", scale->tensor, {{"alpha", scale->scalar}, {"beta", shift->scalar}});
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

  // What Gelu multiplies half of x by: a gate made of x, in one of two ways.
  struct GeluGate {
    om::TensorId x;
    const char* approximate;
  };

  // 1 + Erf(x / √2), or 1 + Tanh(√(2/π) · (x + 0.044715 · x³)).
  std::optional<GeluGate> ReadGeluGate(om::TensorId id) const {
    const om::Node* add = Producer(id, "Add");
    if (add == nullptr || HasActivation(*add)) return std::nullopt;
    const std::optional<ScalarOperand> one = SplitScalar(graph_, *add);
    if (!one || one->scalar != 1) return std::nullopt;
    if (const om::Node* erf = Producer(one->tensor, "Erf")) {
      const auto x = ScaledTensor(erf->inputs[0], static_cast<float>(M_SQRT1_2));
      return x ? std::optional(GeluGate{*x, "none"}) : std::nullopt;
    }
    const om::Node* tanh = Producer(one->tensor, "Tanh");
    const auto x = tanh != nullptr ? CubicOf(tanh->inputs[0]) : std::nullopt;
    return x ? std::optional(GeluGate{*x, "tanh"}) : std::nullopt;
  }

  // t of factor · t.
  std::optional<om::TensorId> ScaledTensor(om::TensorId id, float factor) const {
    for (const char* op : {"Div", "Mul"}) {
      if (const om::Node* node = Producer(id, op)) return ScaledBy(*node, factor);
    }
    return std::nullopt;
  }

  // x of √(2/π) · (x + 0.044715 · x³).
  std::optional<om::TensorId> CubicOf(om::TensorId id) const {
    const auto sum = ScaledTensor(id, static_cast<float>(M_2_SQRTPI * M_SQRT1_2));
    const om::Node* add = sum ? Producer(*sum, "Add") : nullptr;
    if (add == nullptr || HasActivation(*add)) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const auto cube = ScaledTensor(add->inputs[1 - i], 0.044715f);
      if (cube && IsCubeOf(*cube, add->inputs[i])) return add->inputs[i];
    }
    return std::nullopt;
  }

  bool IsCubeOf(om::TensorId id, om::TensorId x) const {
    if (const om::Node* pow = Producer(id, "Pow")) return pow->inputs[0] == x && IsScalar(graph_, pow->inputs[1], 3);
    const om::Node* mul = Producer(id, "Mul");
    if (mul == nullptr || HasActivation(*mul)) return false;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const om::Node* square = mul->inputs[i] == x ? Producer(mul->inputs[1 - i], "Mul") : nullptr;
      if (square != nullptr && !HasActivation(*square) && square->inputs == std::vector{x, x}) return true;
    }
    return false;
  }

  // (x · gate) / 2, or (x / 2) · gate, or x · (gate / 2).
  std::optional<om::Node> MatchGelu(const om::Node& node) const {
    if (const auto product_id = ScaledBy(node, 0.5f)) {
      const om::Node* product = Producer(*product_id, "Mul");
      if (product == nullptr || HasActivation(*product)) return std::nullopt;
      for (const size_t i : {size_t{0}, size_t{1}}) {
        const auto gate = ReadGeluGate(product->inputs[1 - i]);
        if (gate && gate->x == product->inputs[i]) return Gelu(*gate);
      }
    }
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const auto halved = ScaledTensor(node.inputs[i], 0.5f);
      if (!halved) continue;
      const auto of_other = ReadGeluGate(node.inputs[1 - i]);
      if (of_other && of_other->x == *halved) return Gelu(*of_other);
      const auto of_halved = ReadGeluGate(*halved);
      if (of_halved && of_halved->x == node.inputs[1 - i]) return Gelu(*of_halved);
    }
    return std::nullopt;
  }

  static om::Node Gelu(const GeluGate& gate) {
    return Activation("Gelu", gate.x, {{"approximate", std::string(gate.approximate)}});
  }

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
