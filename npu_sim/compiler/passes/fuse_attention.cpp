#include "npu_sim/compiler/passes/fuse_attention.h"

#include <algorithm>

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"

namespace npustream::compiler {
namespace {

using Perm = std::vector<int64_t>;

Perm InOrder(size_t rank) {
  Perm perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
  return perm;
}

// An operand of a product: scale · Transpose(tensor, perm).
struct Operand {
  om::TensorId tensor;
  Perm perm;
  float scale = 1;
};

struct Match {
  Operand q, k, v;
  om::TensorId mask = om::kNoTensor;
  float scale = 1;
};

class Matcher {
 public:
  explicit Matcher(const om::Graph& graph) : graph_(graph), uses_(graph) {}

  const Uses& uses() const { return uses_; }

  // `node` as the second product of an attention.
  std::optional<Match> MatchNode(const om::Node& node) const {
    if (!IsProduct(node)) return std::nullopt;
    const om::Node* softmax = Owned(node.inputs[0], "Softmax");
    const size_t rank = TensorOf(graph_, node.outputs[0]).dims.size();
    if (softmax == nullptr || om::GetInt(*softmax, "axis", -1) != static_cast<int64_t>(rank) - 1) return std::nullopt;
    Match match;
    const om::Node* product = FindScores(softmax->inputs[0], match);
    if (product == nullptr) return std::nullopt;
    match.q = Strip(product->inputs[0]);
    match.k = Strip(product->inputs[1]);
    match.v = Strip(node.inputs[1]);
    if (match.v.scale != 1) match.v = {node.inputs[1], InOrder(rank), 1};
    match.scale *= match.q.scale * match.k.scale;
    std::swap(match.k.perm[rank - 2], match.k.perm[rank - 1]);  // from [depth, keys] to [keys, depth]
    if (match.q.perm.back() != static_cast<int64_t>(rank) - 1) return std::nullopt;
    return HeadsAgree(match) ? std::optional(match) : std::nullopt;
  }

  // The transposition that alone reads `id` and leaves the last axis where it is.
  const om::Node* OuterTranspose(om::TensorId id) const {
    const int reader = uses_.OnlyConsumer(id);
    if (reader < 0) return nullptr;
    const om::Node& node = graph_.nodes[static_cast<size_t>(reader)];
    if (node.op != "Transpose") return nullptr;
    const Perm perm = om::GetInts(node, "perm");
    return perm.back() == static_cast<int64_t>(perm.size()) - 1 ? &node : nullptr;
  }

 private:
  // A product of float matrices in stacks of at most four axes, both computed.
  bool IsProduct(const om::Node& node) const {
    if (node.op != "MatMul" || node.inputs.size() != 2 || HasActivation(node)) return false;
    const om::Tensor &left = TensorOf(graph_, node.inputs[0]), &right = TensorOf(graph_, node.inputs[1]);
    const size_t rank = left.dims.size();
    return left.type == om::DataType::kFloat32 && rank >= 2 && rank <= 4 && right.dims.size() == rank &&
           !right.is_constant();
  }

  // The node `op` that writes `id`, when its result is read once.
  const om::Node* Owned(om::TensorId id, const char* op) const {
    return uses_.OnlyConsumer(id) >= 0 ? ProducerOf(graph_, uses_, id, op) : nullptr;
  }

  // `id` as scalar · tensor.
  std::optional<ScalarOperand> Scaled(om::TensorId id) const {
    for (const char* op : {"Mul", "Div"}) {
      const om::Node* node = ProducerOf(graph_, uses_, id, op);
      if (node == nullptr || HasActivation(*node)) continue;
      std::optional<ScalarOperand> split = SplitScalar(graph_, *node);
      if (!split || TensorOf(graph_, split->tensor).dims != TensorOf(graph_, id).dims) return std::nullopt;
      if (node->op == "Div") {
        if (split->tensor != node->inputs[0]) return std::nullopt;
        split->scalar = 1 / split->scalar;
      }
      return split;
    }
    return std::nullopt;
  }

  Operand Strip(om::TensorId id) const {
    Operand operand{id, InOrder(TensorOf(graph_, id).dims.size())};
    while (true) {
      if (const om::Node* turn = ProducerOf(graph_, uses_, operand.tensor, "Transpose")) {
        const Perm inner = om::GetInts(*turn, "perm");
        for (int64_t& axis : operand.perm) axis = inner[static_cast<size_t>(axis)];
        operand.tensor = turn->inputs[0];
      } else if (const auto scaled = Scaled(operand.tensor)) {
        operand.scale *= scaled->scalar;
        operand.tensor = scaled->tensor;
      } else {
        return operand;
      }
    }
  }

  // The first product, whose result may be scaled, and then have a mask added, before it comes to `id`.
  const om::Node* FindScores(om::TensorId id, Match& match) const {
    if (uses_.OnlyConsumer(id) < 0) return nullptr;
    if (const om::Node* add = ProducerOf(graph_, uses_, id, "Add"); add != nullptr && !HasActivation(*add)) {
      for (const size_t i : {size_t{0}, size_t{1}}) {
        match.scale = 1;
        const om::Node* product = FindProduct(add->inputs[i], match);
        if (product == nullptr || !IsMask(add->inputs[1 - i], TensorOf(graph_, id).dims)) continue;
        if (TensorOf(graph_, add->inputs[i]).dims != TensorOf(graph_, id).dims) continue;
        match.mask = add->inputs[1 - i];
        return product;
      }
      return nullptr;
    }
    return FindProduct(id, match);
  }

  const om::Node* FindProduct(om::TensorId id, Match& match) const {
    if (uses_.OnlyConsumer(id) < 0) return nullptr;
    if (const auto scaled = Scaled(id)) {
      match.scale *= scaled->scalar;
      id = scaled->tensor;
    }
    const om::Node* product = Owned(id, "MatMul");
    return product != nullptr && IsProduct(*product) ? product : nullptr;
  }

  bool IsMask(om::TensorId id, const om::Dims& scores) const {
    const om::Tensor& mask = TensorOf(graph_, id);
    return mask.type == om::DataType::kFloat32 && !mask.dims.empty() && mask.dims.size() <= scores.size() &&
           mask.dims.back() == scores.back();
  }

  // No side is repeated over heads.
  bool HeadsAgree(const Match& match) const {
    const auto dim = [&](const Operand& operand, size_t axis) {
      return TensorOf(graph_, operand.tensor).dims[static_cast<size_t>(operand.perm[axis])];
    };
    for (size_t axis = 0; axis + 2 < match.q.perm.size(); ++axis) {
      if (dim(match.q, axis) != dim(match.k, axis) || dim(match.q, axis) != dim(match.v, axis)) return false;
    }
    return true;
  }

  const om::Graph& graph_;
  const Uses uses_;
};

// The scores of as many query rows as a cube's side stay in the core between the two products.
bool FitsChip(const om::Dims& scores, const FusionLimits& limits) {
  constexpr int64_t kCubeSide = 16;
  const int64_t rows = std::min(kCubeSide, scores[scores.size() - 2]);
  return limits.Fits(static_cast<uint64_t>(rows) * static_cast<uint64_t>(scores.back()));
}

}  // namespace

Status FuseAttention(om::Graph& graph, const FusionLimits& limits) {
  const Matcher matcher(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    om::Node& node = graph.nodes[n];
    const std::optional<Match> match = matcher.MatchNode(node);
    if (!match || !FitsChip(TensorOf(graph, node.inputs[0]).dims, limits)) continue;
    Perm y_perm = InOrder(match->q.perm.size());
    if (const om::Node* turn = matcher.OuterTranspose(node.outputs[0])) {
      y_perm = om::GetInts(*turn, "perm");
      node.outputs = turn->outputs;
      dead[static_cast<size_t>(turn - graph.nodes.data())] = true;
    }
    node.op = "Attention";
    node.inputs = {match->q.tensor, match->k.tensor, match->v.tensor};
    if (match->mask != om::kNoTensor) node.inputs.push_back(match->mask);
    node.attributes = {{"scale", match->scale},
                       {"q_perm", match->q.perm},
                       {"k_perm", match->k.perm},
                       {"v_perm", match->v.perm},
                       {"y_perm", y_perm}};
  }
  EraseNodes(graph, dead);
  return RemoveDeadCode(graph);
}

}  // namespace npustream::compiler
