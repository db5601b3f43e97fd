#include "npu_sim/compiler/quantize/sites.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/ir/quantized.h"
#include "npu_sim/compiler/quantize/range.h"
#include "npu_sim/kernels/kernel.h"

namespace npustream::compiler {
namespace {

bool IsReal(const om::Graph& graph, om::TensorId id) {
  return id != om::kNoTensor && TensorOf(graph, id).type == om::DataType::kFloat32;
}
bool IsComputedReal(const om::Graph& graph, om::TensorId id) {
  return IsReal(graph, id) && !TensorOf(graph, id).is_constant();
}

// Whether there is a kernel for the convolution on bytes: asked with scales of 1 and a real result.
bool RunsOnBytes(const om::Graph& graph, const om::Node& conv) {
  if (conv.op != "Conv" || conv.inputs.size() > 4 || !IsComputedReal(graph, conv.inputs[0])) return false;
  const om::Tensor& weights = TensorOf(graph, conv.inputs[1]);
  if (!weights.is_constant() || weights.type != om::DataType::kFloat32 || weights.dims.size() != 4) return false;
  om::Graph trial;
  om::Node node = conv;
  const auto one = std::make_shared<const om::Quantization>(om::Quantization{{1}, {0}});
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == om::kNoTensor) continue;
    om::Tensor tensor = TensorOf(graph, node.inputs[i]);
    if (i == 0 || i == 3) {
      tensor.type = om::DataType::kUInt8;
      tensor.quantization = one;
    } else if (i == 1) {
      tensor.type = om::DataType::kInt8;
      tensor.constant = std::make_shared<const om::Bytes>(static_cast<size_t>(om::ElementCount(tensor.dims)));
      tensor.quantization = one;
    }
    node.inputs[i] = AddTensor(trial, std::move(tensor));
  }
  node.outputs = {AddTensor(trial, TensorOf(graph, conv.outputs[0]))};
  return kernels::CheckNode(trial, node).ok();
}

// Functions of one element, or of two tensors' elements at the same place, that bytes can be looked up or computed for.
bool IsElementwise(const om::Graph& graph, const om::Node& node) {
  constexpr std::string_view kUnary[] = {"Clip", "Elu",  "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu",
                                         "Mish", "Relu", "Silu", "Sigmoid",     "Tanh"};
  if (std::find(std::begin(kUnary), std::end(kUnary), node.op) != std::end(kUnary)) return true;
  if (node.op != "Add" && node.op != "Mul") return false;
  return node.inputs.size() == 2 && IsComputedReal(graph, node.inputs[0]) && IsComputedReal(graph, node.inputs[1]) &&
         TensorOf(graph, node.inputs[0]).dims == TensorOf(graph, node.inputs[1]).dims;
}

class Finder {
 public:
  Finder(const om::Graph& graph, const std::set<std::string>& real_nodes) : graph_(graph), real_nodes_(real_nodes), uses_(graph) {
    sites_.quantised.resize(graph.nodes.size());
    sites_.as_bytes.resize(graph.tensors.size());
    sites_.scale_group.resize(graph.tensors.size());
    std::iota(sites_.scale_group.begin(), sites_.scale_group.end(), 0);
  }

  QuantizationSites Run() {
    for (size_t n = graph_.nodes.size(); n-- > 0;) Visit(n);
    std::reverse(sites_.layers.begin(), sites_.layers.end());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) ShareScales(graph_.nodes[n]);
    for (om::TensorId& group : sites_.scale_group) group = GroupOf(group);
    return std::move(sites_);
  }

 private:
  // After all readers of the node's results.
  void Visit(size_t n) {
    const om::Node& node = graph_.nodes[n];
    const bool stays_real = StaysReal(graph_, node, real_nodes_);
    if (RunsOnBytes(graph_, node)) {
      sites_.layers.push_back(n);
      if (stays_real) return;
      sites_.quantised[n] = true;
      Want(node.inputs[0]);
      if (HasResidual(node)) Want(node.inputs[3]);
      return;
    }
    if (stays_real || !HandsOn(node) || FollowsRealConv(node)) return;
    const auto wanted = [&](om::TensorId id) { return id != om::kNoTensor && sites_.as_bytes[static_cast<size_t>(id)]; };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), wanted)) return;
    for (const om::TensorId output : node.outputs) Want(output);
    for (size_t i = 0; i < DataInputs(node); ++i) Want(node.inputs[i]);
  }

  bool HandsOn(const om::Node& node) const {
    if (!PicksElements(node)) return IsElementwise(graph_, node);
    for (size_t i = 0; i < DataInputs(node); ++i) {
      if (!IsComputedReal(graph_, node.inputs[i])) return false;
    }
    return true;
  }

  // A function that will be fused into a convolution on real numbers.
  bool FollowsRealConv(const om::Node& node) const {
    if (PicksElements(node) || node.inputs.size() != 1) return false;
    const om::Node* conv = ProducerOf(graph_, uses_, node.inputs[0], "Conv");
    return conv != nullptr && (StaysReal(graph_, *conv, real_nodes_) || !RunsOnBytes(graph_, *conv));
  }

  // Inputs that are pictures, in front of those that are indices or sizes.
  static size_t DataInputs(const om::Node& node) {
    return node.op == "Concat" || node.op == "Add" || node.op == "Mul" ? node.inputs.size() : 1;
  }

  void Want(om::TensorId id) {
    if (IsComputedReal(graph_, id)) sites_.as_bytes[static_cast<size_t>(id)] = true;
  }

  void ShareScales(const om::Node& node) {
    if (!PicksElements(node) || StaysReal(graph_, node, real_nodes_)) return;
    for (size_t i = 0; i < DataInputs(node); ++i) {
      for (const om::TensorId output : node.outputs) Join(node.inputs[i], output);
    }
  }
  void Join(om::TensorId a, om::TensorId b) {
    if (a == om::kNoTensor || b == om::kNoTensor) return;
    if (!sites_.as_bytes[static_cast<size_t>(a)] || !sites_.as_bytes[static_cast<size_t>(b)]) return;
    sites_.scale_group[static_cast<size_t>(GroupOf(b))] = GroupOf(a);
  }
  om::TensorId GroupOf(om::TensorId id) const {
    while (sites_.scale_group[static_cast<size_t>(id)] != id) id = sites_.scale_group[static_cast<size_t>(id)];
    return id;
  }

  const om::Graph& graph_;
  const std::set<std::string>& real_nodes_;
  const Uses uses_;
  QuantizationSites sites_;
};

}  // namespace

bool StaysReal(const om::Graph& graph, const om::Node& node, const std::set<std::string>& real_nodes) {
  return real_nodes.count(node.name) != 0 || real_nodes.count("OpType::" + node.op) != 0 ||
         real_nodes.count(TensorOf(graph, node.outputs[0]).name) != 0;
}

QuantizationSites FindQuantizationSites(const om::Graph& graph, const std::set<std::string>& real_nodes) {
  return Finder(graph, real_nodes).Run();
}

}  // namespace npustream::compiler
