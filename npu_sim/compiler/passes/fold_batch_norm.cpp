#include "npu_sim/compiler/passes/fold_batch_norm.h"

#include <cmath>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

// y = x · scale + shift, per channel.
struct ChannelMath {
  std::vector<double> scale, shift;
};

// The input of `node` that it is applied to, with what it does to each channel.
struct Affine {
  om::TensorId tensor = om::kNoTensor;
  ChannelMath math;
};

std::optional<Affine> FromBatchNorm(const om::Graph& graph, const om::Node& node) {
  std::span<const float> parameters[4];
  for (size_t i = 0; i < 4; ++i) parameters[i] = FloatView(TensorOf(graph, node.inputs[i + 1]));
  const auto& [gamma, beta, mean, variance] = parameters;
  if (gamma.empty() || beta.size() != gamma.size() || mean.size() != gamma.size() || variance.size() != gamma.size()) {
    return std::nullopt;
  }
  const double epsilon = static_cast<double>(om::GetFloat(node, "epsilon", 1e-5f));
  Affine affine{node.inputs[0], {}};
  for (size_t c = 0; c < gamma.size(); ++c) {
    const double scale = static_cast<double>(gamma[c]) / std::sqrt(static_cast<double>(variance[c]) + epsilon);
    affine.math.scale.push_back(scale);
    affine.math.shift.push_back(static_cast<double>(beta[c]) - static_cast<double>(mean[c]) * scale);
  }
  return affine;
}

std::optional<Affine> FromBinary(const om::Graph& graph, const om::Node& node) {
  if (node.inputs.size() != 2 || HasActivation(node)) return std::nullopt;
  const bool commutes = node.op == "Add" || node.op == "Mul";
  const size_t constant_at = commutes && TensorOf(graph, node.inputs[0]).is_constant() ? 0 : 1;
  const om::TensorId tensor = node.inputs[1 - constant_at];
  const om::Dims& dims = TensorOf(graph, tensor).dims;
  if (dims.size() < 2 || dims != TensorOf(graph, node.outputs[0]).dims) return std::nullopt;
  const auto values = PerChannelValues(graph, node.inputs[constant_at], dims.size(), dims[1]);
  if (!values) return std::nullopt;
  Affine affine{tensor, {}};
  for (const float value : *values) {
    const double v = static_cast<double>(value);
    affine.math.scale.push_back(node.op == "Mul" ? v : node.op == "Div" ? 1 / v : 1);
    affine.math.shift.push_back(node.op == "Add" ? v : node.op == "Sub" ? -v : 0);
  }
  return affine;
}

std::optional<Affine> ReadAffine(const om::Graph& graph, const om::Node& node) {
  if (node.op == "BatchNormalization") return FromBatchNorm(graph, node);
  if (node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div") return FromBinary(graph, node);
  return std::nullopt;
}

// The output channel that weight `i` of a tensor of `dims` belongs to.
size_t OutputChannel(const om::Node& node, const om::Dims& dims, size_t i) {
  size_t inner = 1;
  for (size_t axis = 2; axis < dims.size(); ++axis) inner *= static_cast<size_t>(dims[axis]);
  const size_t rows = static_cast<size_t>(dims[0]), columns = static_cast<size_t>(dims[1]);
  const size_t row = i / inner / columns, column = i / inner % columns;
  if (node.op == "Conv") return row;
  if (node.op == "Gemm") return om::GetInt(node, "transB", 0) != 0 ? row : column;
  const size_t group = static_cast<size_t>(om::GetInt(node, "group", 1));  // ConvTranspose: [in, out / group, …]
  return row / (rows / group) * columns + column;
}

bool CanTakeUp(const om::Graph& graph, const om::Node& node) {
  if (node.op != "Conv" && node.op != "ConvTranspose" && node.op != "Gemm") return false;
  if (HasActivation(node) || HasResidual(node)) return false;
  if (node.op == "Gemm" && (om::GetFloat(node, "alpha", 1) != 1 || om::GetFloat(node, "beta", 1) != 1)) return false;
  if (FloatView(TensorOf(graph, node.inputs[1])).empty()) return false;
  if (node.inputs.size() < 3 || node.inputs[2] == om::kNoTensor) return true;
  // Gemm's bias may be a whole matrix.
  const int64_t channels = TensorOf(graph, node.outputs[0]).dims[1];
  const om::Tensor& bias = TensorOf(graph, node.inputs[2]);
  return static_cast<int64_t>(FloatView(bias).size()) == channels && bias.dims.back() == channels;
}

void TakeUp(om::Graph& graph, om::Node& node, const ChannelMath& math) {
  const om::Tensor weights = TensorOf(graph, node.inputs[1]);
  const std::span<const float> old_weights = FloatView(weights);
  std::vector<float> scaled(old_weights.size());
  for (size_t i = 0; i < scaled.size(); ++i) {
    const double scale = math.scale[OutputChannel(node, weights.dims, i)];
    scaled[i] = static_cast<float>(static_cast<double>(old_weights[i]) * scale);
  }
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != om::kNoTensor;
  const std::span<const float> old_bias =
      has_bias ? FloatView(TensorOf(graph, node.inputs[2])) : std::span<const float>();
  std::vector<float> bias(math.scale.size());
  for (size_t c = 0; c < bias.size(); ++c) {
    const double before = has_bias ? static_cast<double>(old_bias[c]) : 0;
    bias[c] = static_cast<float>(before * math.scale[c] + math.shift[c]);
  }
  const std::string name = weights.name;
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), om::kNoTensor);
  node.inputs[1] = AddTensor(graph, MakeFloats(name + ".folded", weights.dims, scaled));
  node.inputs[2] = AddTensor(graph, MakeFloats(name + ".bias", {static_cast<int64_t>(bias.size())}, bias));
}

}  // namespace

Status FoldBatchNorm(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    // The reader of a node that was folded earlier in this loop finds that node's result written by the node before it.
    const std::optional<Affine> affine = ReadAffine(graph, graph.nodes[n]);
    if (!affine) continue;
    int producer = uses.Producer(affine->tensor);
    while (producer >= 0 && dead[static_cast<size_t>(producer)]) {
      producer = uses.Producer(ReadAffine(graph, graph.nodes[static_cast<size_t>(producer)])->tensor);
    }
    if (producer < 0 || uses.OnlyConsumer(affine->tensor) != static_cast<int>(n)) continue;
    om::Node& target = graph.nodes[static_cast<size_t>(producer)];
    if (!CanTakeUp(graph, target) ||
        TensorOf(graph, target.outputs[0]).dims[1] != static_cast<int64_t>(affine->math.scale.size())) {
      continue;
    }
    TakeUp(graph, target, affine->math);
    target.outputs[0] = graph.nodes[n].outputs[0];
    dead[n] = true;
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
