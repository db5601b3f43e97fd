#include "npu_sim/compiler/passes/insert_quantization.h"

#include <map>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/passes/fuse_conv_activation.h"
#include "npu_sim/compiler/passes/separate_activations.h"
#include "npu_sim/compiler/quantize/sites.h"

namespace npustream::compiler {
namespace {

class Inserter {
 public:
  Inserter(om::Graph& graph, const QuantizationScheme& scheme)
      : graph_(graph), scheme_(scheme), sites_(FindQuantizationSites(graph, scheme.real_nodes)) {}

  void Run() {
    std::vector<om::Node> nodes;
    nodes.swap(graph_.nodes);
    for (const om::TensorId input : graph_.inputs) Round(input);
    for (size_t n = 0; n < nodes.size(); ++n) {
      om::Node& node = nodes[n];
      const bool integer = sites_.quantised[n] && IsRounded(node.inputs[0]);
      for (om::TensorId& input : node.inputs) {
        if (IsRounded(input)) input = rounded_[input];
      }
      if (integer) node.inputs[1] = QuantizedWeights(node.inputs[1], node.name);
      graph_.nodes.push_back(std::move(node));
      // Not the node: adding nodes moves it.
      const std::vector<om::TensorId> outputs = graph_.nodes.back().outputs;
      for (const om::TensorId output : outputs) Round(output);
    }
  }

 private:
  bool IsRounded(om::TensorId id) const { return rounded_.count(id) != 0; }

  // The real numbers that bytes for `id` stand for, for all of its readers.
  void Round(om::TensorId id) {
    if (id == om::kNoTensor || !sites_.as_bytes[static_cast<size_t>(id)]) return;
    const om::Tensor tensor = TensorOf(graph_, id);
    const auto known = scheme_.tensors.find(tensor.name);
    if (known == scheme_.tensors.end()) return;
    om::Tensor bytes{tensor.name + ".bytes", om::DataType::kUInt8, tensor.dims, nullptr,
                     std::make_shared<const om::Quantization>(known->second)};
    const om::TensorId bytes_id = AddTensor(graph_, std::move(bytes));
    const om::TensorId real = AddTensor(graph_, {tensor.name + ".rounded", om::DataType::kFloat32, tensor.dims, nullptr});
    graph_.nodes.push_back({"quantize_" + tensor.name, "Quantize", {id}, {bytes_id}, {}});
    graph_.nodes.push_back({"dequantize_" + tensor.name, "Dequantize", {bytes_id}, {real}, {}});
    rounded_[id] = real;
  }

  om::TensorId QuantizedWeights(om::TensorId id, const std::string& node) {
    const om::Tensor weights = TensorOf(graph_, id);
    const std::span<const float> values = FloatView(weights);
    om::Quantization quantization = WeightQuantization(values, weights.dims[0]);
    om::Tensor integers{weights.name + ".int8", om::DataType::kInt8, weights.dims,
                        std::make_shared<const om::Bytes>(QuantizeWeights(values, quantization)), nullptr};
    integers.quantization = std::make_shared<const om::Quantization>(std::move(quantization));
    const om::TensorId integers_id = AddTensor(graph_, std::move(integers));
    const om::TensorId real =
        AddTensor(graph_, {weights.name + ".rounded", om::DataType::kFloat32, weights.dims, nullptr});
    graph_.nodes.push_back({"weights_" + node, "Dequantize", {integers_id}, {real}, {}});
    return real;
  }

  om::Graph& graph_;
  const QuantizationScheme& scheme_;
  const QuantizationSites sites_;
  std::map<om::TensorId, om::TensorId> rounded_;
};

}  // namespace

Status InsertQuantization(om::Graph& graph, const QuantizationScheme& scheme) {
  if (scheme.tables) NPUSTREAM_RETURN_IF_ERROR(SeparateActivations(graph));
  Inserter(graph, scheme).Run();
  return FuseConvActivation(graph);
}

}  // namespace npustream::compiler
