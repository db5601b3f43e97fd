#include "npu_sim/compiler/passes/insert_quantization.h"

#include <algorithm>
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
      const om::TensorId source = node.inputs[0];
      const bool integer = sites_.quantised[n] && IsRounded(source);
      for (om::TensorId& input : node.inputs) {
        if (IsRounded(input)) input = rounded_[input];
      }
      if (integer) QuantizeWeightsOf(node, TensorOf(graph_, source).name);
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
    om::Tensor bytes{tensor.name + kBytesSuffix, om::DataType::kUInt8, tensor.dims, nullptr,
                     std::make_shared<const om::Quantization>(known->second)};
    const om::TensorId bytes_id = AddTensor(graph_, std::move(bytes));
    const om::TensorId real = AddTensor(graph_, {tensor.name + kRoundedSuffix, om::DataType::kFloat32, tensor.dims, nullptr});
    graph_.nodes.push_back({"quantize_" + tensor.name, "Quantize", {id}, {bytes_id}, {}});
    graph_.nodes.push_back({"dequantize_" + tensor.name, "Dequantize", {bytes_id}, {real}, {}});
    rounded_[id] = real;
  }

  void QuantizeWeightsOf(om::Node& conv, const std::string& source) {
    const om::Tensor weights = TensorOf(graph_, conv.inputs[1]);
    const std::span<const float> values = FloatView(weights);
    om::Quantization quantization = WeightQuantization(values, weights.dims[0]);
    om::Bytes bytes = QuantizeWeights(values, quantization);
    if (const auto means = scheme_.means.find(source); means != scheme_.means.end())
      CorrectBias(conv, BiasCorrection(values, bytes, quantization, means->second, conv));
    om::Tensor integers{weights.name + ".int8", om::DataType::kInt8, weights.dims,
                        std::make_shared<const om::Bytes>(std::move(bytes)), nullptr};
    integers.quantization = std::make_shared<const om::Quantization>(std::move(quantization));
    const om::TensorId integers_id = AddTensor(graph_, std::move(integers));
    conv.inputs[1] = AddTensor(graph_, {weights.name + kRoundedSuffix, om::DataType::kFloat32, weights.dims, nullptr});
    graph_.nodes.push_back({"weights_" + conv.name, "Dequantize", {integers_id}, {conv.inputs[1]}, {}});
  }

  // Per result channel Σ (weight − rounded weight) · mean of what it is multiplied with.
  std::vector<float> BiasCorrection(std::span<const float> weights, const om::Bytes& bytes,
                                    const om::Quantization& quantization, const std::vector<float>& means,
                                    const om::Node& conv) const {
    const om::Dims& dims = TensorOf(graph_, conv.inputs[1]).dims;
    const auto results = static_cast<size_t>(dims[0]), sources = static_cast<size_t>(dims[1]);
    const size_t taps = weights.size() / results / sources;
    const size_t group_results = results / static_cast<size_t>(om::GetInt(conv, "group", 1));
    std::vector<float> correction;
    for (size_t result = 0, i = 0; result < results; ++result) {
      double sum = 0;
      for (size_t source = 0; source < sources; ++source) {
        const double mean = means[result / group_results * sources + source];
        for (size_t tap = 0; tap < taps; ++tap, ++i)
          sum += (weights[i] - static_cast<double>(static_cast<int8_t>(bytes[i])) * quantization.scales[result]) * mean;
      }
      correction.push_back(static_cast<float>(sum));
    }
    return correction;
  }

  // A computed bias stays as it is.
  void CorrectBias(om::Node& conv, std::vector<float> bias) {
    conv.inputs.resize(std::max<size_t>(conv.inputs.size(), 3), om::kNoTensor);
    if (conv.inputs[2] != om::kNoTensor) {
      const std::span<const float> before = FloatView(TensorOf(graph_, conv.inputs[2]));
      if (before.size() != bias.size()) return;
      for (size_t c = 0; c < bias.size(); ++c) bias[c] += before[c];
    }
    conv.inputs[2] = AddTensor(
        graph_, MakeFloats("bias_" + conv.name + ".corrected", {static_cast<int64_t>(bias.size())}, bias));
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
