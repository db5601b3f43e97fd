#include "npu_sim/compiler/passes/lower_precision.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "npu_sim/compiler/ir/quantized.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/kernels/bf16_conv.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

template <size_t N>
bool IsOneOf(std::string_view op, const std::string_view (&ops)[N]) {
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

// Operators with weights for their input and for their state.
bool IsRecurrence(const om::Node& node) {
  constexpr std::string_view kOps[] = {"GRU", "LSTM", "RNN"};
  return IsOneOf(node.op, kOps);
}

bool IsMatrixOperator(const om::Node& node) {
  constexpr std::string_view kOps[] = {"Attention", "Conv", "ConvTranspose", "Gemm", "MatMul"};
  return IsOneOf(node.op, kOps) || IsRecurrence(node);
}

// Whether an operator's results are short when its operands are.
bool KeepsShort(const om::Node& node) {
  constexpr std::string_view kOps[] = {
      "Abs", "DepthToSpace", "GatherElements", "GatherND", "GlobalMaxPool", "Identity", "Max",  "Min",
      "Neg", "ReduceMax",    "ReduceMin",      "Relu",     "SpaceToDepth",  "TopK",     "Where"};
  return PicksElements(node) || IsOneOf(node.op, kOps);
}

// Convolutions of fewer products a result gain nothing in bfloat16, as reading the source is most of their work; and the
// first layers of a network, which are such, are those whose errors all others inherit.
constexpr int64_t kLeastProducts = 64;

class Lowering {
 public:
  Lowering(om::Graph& graph, const Precision& precision) : graph_(graph), precision_(precision) {}

  Status Run() {
    if (precision_.by_kernels) {
      for (om::Node& node : graph_.nodes) {
        if (node.op == "Conv" && IsReal(node.inputs[0]) && !IsKept(node) && Products(node) >= kLeastProducts)
          node.attributes[kernels::kComputeType] = std::string(kernels::kComputeBf16);
      }
      return {};
    }
    std::vector<om::Node> nodes;
    nodes.swap(graph_.nodes);
    for (om::Node& node : nodes) {
      for (om::TensorId& input : node.inputs) input = Current(input);
      if (!IsLowered(node)) {
        const bool is_short = KeepsShort(node) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](auto id) {
                                return !IsReal(id) || short_.count(id) != 0;
                              });
        if (is_short) short_.insert(node.outputs.begin(), node.outputs.end());
        graph_.nodes.push_back(std::move(node));
        continue;
      }
      NPUSTREAM_RETURN_IF_ERROR(RoundOperands(node));
      graph_.nodes.push_back(std::move(node));
      if (precision_.scope != Precision::Scope::kMatrixOperands) RoundResults(graph_.nodes.size() - 1);
    }
    return {};
  }

 private:
  bool IsReal(om::TensorId id) const {
    return id != om::kNoTensor && TensorOf(graph_, id).type == om::DataType::kFloat32;
  }

  om::TensorId Current(om::TensorId id) const {
    const auto found = renamed_.find(id);
    return found == renamed_.end() ? id : found->second;
  }

  int64_t Products(const om::Node& conv) const {
    const om::Dims& weights = TensorOf(graph_, conv.inputs[1]).dims;
    return weights.empty() || weights[0] == 0 ? 0 : om::ElementCount(weights) / weights[0];
  }

  bool IsKept(const om::Node& node) const {
    if (precision_.kept_ops.count(node.op) != 0 || precision_.kept.count(node.name) != 0) return true;
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](om::TensorId id) { return id != om::kNoTensor && IsKept(TensorOf(graph_, id).name); });
  }

  bool IsKept(const std::string& tensor) const {
    const size_t dot = tensor.rfind('.');
    const bool numbered =
        dot != std::string::npos && tensor.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    return precision_.kept.count(tensor) != 0 || (numbered && precision_.kept.count(tensor.substr(0, dot)) != 0);
  }

  bool IsLowered(const om::Node& node) const {
    if (precision_.scope != Precision::Scope::kAll && !IsMatrixOperator(node)) return false;
    return !IsKept(node);
  }

  // Integer operators have real operands too: biases, which a device adds to its sums as they are.
  Status RoundOperands(om::Node& node) {
    if (node.inputs.empty() || TensorOf(graph_, node.inputs[0]).quantization) return {};
    const bool operands_only = precision_.scope == Precision::Scope::kMatrixOperands;
    const size_t operands = IsRecurrence(node) ? 3 : 2;
    const size_t count = operands_only ? std::min(node.inputs.size(), operands) : node.inputs.size();
    for (size_t i = 0; i < count; ++i) {
      NPUSTREAM_ASSIGN_OR_RETURN(node.inputs[i], Short(node.inputs[i]));
    }
    return {};
  }

  // The tensor with the short values of `id`.
  Result<om::TensorId> Short(om::TensorId id) {
    if (!IsReal(id) || short_.count(id) != 0) return id;
    const auto known = rounded_.find(id);
    if (known != rounded_.end()) return known->second;
    om::Tensor tensor = TensorOf(graph_, id);
    om::Node round = RoundNode(tensor.name, id);
    if (tensor.is_constant()) {
      NPUSTREAM_ASSIGN_OR_RETURN(tensor.constant, RoundedConstant(tensor, round));
    }
    tensor.name += std::string(".") + om::ToString(precision_.type);
    const bool computed = !tensor.is_constant();
    const om::TensorId rounded = AddTensor(graph_, std::move(tensor));
    round.outputs = {rounded};
    if (computed) graph_.nodes.push_back(std::move(round));
    short_.insert(rounded);
    rounded_[id] = rounded;
    return rounded;
  }

  Result<std::shared_ptr<const om::Bytes>> RoundedConstant(const om::Tensor& constant, om::Node round) const {
    om::Graph graph;
    graph.tensors = {constant, constant};
    graph.tensors[0].constant = graph.tensors[1].constant = nullptr;
    round.inputs = {0};
    round.outputs = {1};
    graph.nodes = {std::move(round)};
    graph.inputs = {0};
    graph.outputs = {1};
    NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::Bytes> results, program::EvaluateGraph(graph, {*constant.constant}));
    return std::make_shared<const om::Bytes>(std::move(results[0]));
  }

  om::Node RoundNode(const std::string& tensor, om::TensorId input) const {
    return {"round_" + tensor, "RoundTo", {input}, {}, {{"to", static_cast<int64_t>(precision_.type)}}};
  }

  // Everybody after node n reads its results rounded. The rounded ones take the names, as outputs of the graph have
  // names that a user knows.
  void RoundResults(size_t n) {
    const std::vector<om::TensorId> results = graph_.nodes[n].outputs;
    const bool keeps_short = KeepsShort(graph_.nodes[n]);
    for (const om::TensorId result : results) {
      if (!IsReal(result)) continue;
      if (keeps_short) {
        short_.insert(result);
        continue;
      }
      om::Tensor tensor = TensorOf(graph_, result);
      om::Node round = RoundNode(tensor.name, result);
      TensorOf(graph_, result).name += ".computed";
      const om::TensorId rounded = AddTensor(graph_, std::move(tensor));
      round.outputs = {rounded};
      graph_.nodes.push_back(std::move(round));
      short_.insert(rounded);
      renamed_[result] = rounded;
      std::replace(graph_.outputs.begin(), graph_.outputs.end(), result, rounded);
    }
  }

  om::Graph& graph_;
  const Precision& precision_;
  std::set<om::TensorId> short_;                  // whose values are of the short type
  std::map<om::TensorId, om::TensorId> rounded_;  // for those who want them so
  std::map<om::TensorId, om::TensorId> renamed_;  // for everybody
};

}  // namespace

Status LowerPrecision(om::Graph& graph, const Precision& precision) {
  if (precision.type == om::DataType::kFloat32) return {};
  return Lowering(graph, precision).Run();
}

}  // namespace npustream::compiler
