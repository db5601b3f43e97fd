#include "npu_sim/compiler/passes/fuse_layer_norm.h"

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

// What a quotient standardises.
struct Standardised {
  om::TensorId x;
  int64_t axis;
  float epsilon;
};

class Matcher {
 public:
  explicit Matcher(const om::Graph& graph) : graph_(graph), uses_(graph) {}

  // The quotient of a centred tensor and its deviation, or the product with the deviation's inverse.
  std::optional<Standardised> Match(const om::Node& node) const {
    if (node.inputs.size() != 2 || HasActivation(node)) return std::nullopt;
    if (node.op == "Div") return MatchParts(node.inputs[0], node.inputs[1]);
    if (node.op != "Mul") return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const om::Node* inverse = ProducerOf(graph_, uses_, node.inputs[i], "Reciprocal");
      if (inverse == nullptr) inverse = OneOver(node.inputs[i]);
      if (inverse != nullptr) return MatchParts(node.inputs[1 - i], inverse->inputs.back());
    }
    return std::nullopt;
  }

  // The node `op` that alone reads `id`, and its other operand: a constant of the rows' dims.
  const om::Node* RowwiseReader(om::TensorId id, const char* op, const om::Dims& row, om::TensorId& other) const {
    const int reader = uses_.OnlyConsumer(id);
    if (reader < 0) return nullptr;
    const om::Node& node = graph_.nodes[static_cast<size_t>(reader)];
    if (node.op != op || HasActivation(node)) return nullptr;
    other = node.inputs[0] == id ? node.inputs[1] : node.inputs[0];
    const om::Tensor& tensor = TensorOf(graph_, other);
    om::Dims dims = tensor.dims;
    while (dims.size() > row.size() && dims.front() == 1) dims.erase(dims.begin());
    const bool keeps = TensorOf(graph_, node.outputs[0]).dims == TensorOf(graph_, id).dims;
    return tensor.is_constant() && dims == row && keeps ? &node : nullptr;
  }

 private:
  const om::Node* OneOver(om::TensorId id) const {
    const om::Node* div = ProducerOf(graph_, uses_, id, "Div");
    return div != nullptr && !HasActivation(*div) && IsScalar(graph_, div->inputs[0], 1) ? div : nullptr;
  }

  // The first of the last axes that `mean` runs over; nothing when it runs over others.
  std::optional<int64_t> MeanAxis(const om::Node& mean) const {
    const int64_t rank = static_cast<int64_t>(TensorOf(graph_, mean.inputs[0]).dims.size());
    const std::vector<int64_t> axes = om::GetInts(mean, "axes");
    if (axes.empty() || om::GetInt(mean, "keepdims", 1) == 0) return std::nullopt;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[axes.size() - 1 - i] != rank - 1 - static_cast<int64_t>(i)) return std::nullopt;
    }
    return axes.front();
  }

  // x of x − mean(x), and the axis of the mean.
  std::optional<Standardised> Centred(om::TensorId id) const {
    const om::Node* sub = ProducerOf(graph_, uses_, id, "Sub");
    if (sub == nullptr || HasActivation(*sub)) return std::nullopt;
    const om::Node* mean = ProducerOf(graph_, uses_, sub->inputs[1], "ReduceMean");
    if (mean == nullptr || mean->inputs[0] != sub->inputs[0]) return std::nullopt;
    const std::optional<int64_t> axis = MeanAxis(*mean);
    if (!axis) return std::nullopt;
    return Standardised{sub->inputs[0], *axis, 0};
  }

  // c of c².
  std::optional<om::TensorId> Squared(om::TensorId id) const {
    if (const om::Node* mul = ProducerOf(graph_, uses_, id, "Mul")) {
      return !HasActivation(*mul) && mul->inputs[0] == mul->inputs[1] ? std::optional(mul->inputs[0]) : std::nullopt;
    }
    const om::Node* pow = ProducerOf(graph_, uses_, id, "Pow");
    return pow != nullptr && IsScalar(graph_, pow->inputs[1], 2) ? std::optional(pow->inputs[0]) : std::nullopt;
  }

  struct Summed {
    om::TensorId tensor;
    float epsilon;
  };
  // v and e of v + e. Half precision makes zeros of small ones, and additions of zero are gone.
  Summed WithoutEpsilon(om::TensorId id) const {
    const om::Node* safe = ProducerOf(graph_, uses_, id, "Add");
    const auto split = safe && !HasActivation(*safe) ? SplitScalar(graph_, *safe) : std::nullopt;
    return split ? Summed{split->tensor, split->scalar} : Summed{id, 0};
  }

  std::optional<Standardised> MatchParts(om::TensorId centred, om::TensorId deviation) const {
    std::optional<Standardised> match = Centred(centred);
    const om::Node* root = ProducerOf(graph_, uses_, deviation, "Sqrt");
    if (!match || root == nullptr) return std::nullopt;
    const Summed variance = WithoutEpsilon(root->inputs[0]);
    const om::Node* mean = ProducerOf(graph_, uses_, variance.tensor, "ReduceMean");
    if (mean == nullptr || MeanAxis(*mean) != match->axis) return std::nullopt;
    const std::optional<om::TensorId> base = Squared(mean->inputs[0]);
    const std::optional<Standardised> other = base ? Centred(*base) : std::nullopt;
    if (!other || other->x != match->x || other->axis != match->axis) return std::nullopt;
    match->epsilon = variance.epsilon;
    return match;
  }

  const om::Graph& graph_;
  const Uses uses_;
};

om::TensorId AddRow(om::Graph& graph, const std::string& name, const om::Dims& row, float value) {
  const std::vector<float> values(static_cast<size_t>(om::ElementCount(row)), value);
  return AddTensor(graph, MakeFloats(name, row, values));
}

om::TensorId AsRow(om::Graph& graph, om::TensorId id, const om::Dims& row) {
  if (TensorOf(graph, id).dims == row) return id;
  om::Tensor tensor = TensorOf(graph, id);
  tensor.dims = row;
  tensor.name += ".row";
  return AddTensor(graph, std::move(tensor));
}

}  // namespace

Status FuseLayerNorm(om::Graph& graph, const FusionLimits& limits) {
  const Matcher matcher(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::optional<Standardised> match = matcher.Match(graph.nodes[n]);
    if (!match || TensorOf(graph, match->x).type != om::DataType::kFloat32) continue;
    const om::Dims& dims = TensorOf(graph, match->x).dims;
    const om::Dims row(dims.begin() + match->axis, dims.end());
    if (!limits.Fits(3 * static_cast<uint64_t>(om::ElementCount(row)))) continue;  // with its factors and offsets
    om::TensorId result = graph.nodes[n].outputs[0], scale = om::kNoTensor, bias = om::kNoTensor;
    size_t last = n;
    for (const auto& [op, operand] : {std::pair{"Mul", &scale}, std::pair{"Add", &bias}}) {
      om::TensorId other = om::kNoTensor;
      const om::Node* reader = matcher.RowwiseReader(result, op, row, other);
      if (reader == nullptr) continue;
      dead[last] = true;
      last = static_cast<size_t>(reader - graph.nodes.data());
      result = reader->outputs[0];
      *operand = AsRow(graph, other, row);
    }
    om::Node& node = graph.nodes[last];
    if (scale == om::kNoTensor) scale = AddRow(graph, node.name + ".ones", row, 1);
    node.op = "LayerNormalization";
    node.inputs = {match->x, scale};
    if (bias != om::kNoTensor) node.inputs.push_back(bias);
    node.attributes = {{"axis", match->axis}, {"epsilon", match->epsilon}};
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
