#include "npu_sim/compiler/passes/insert_quantization.h"

#include <algorithm>
#include <map>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/passes/fuse_conv_activation.h"
#include "npu_sim/compiler/passes/separate_activations.h"
#include "npu_sim/compiler/quantize/channel_factors.h"
#include "npu_sim/compiler/quantize/sites.h"

namespace npustream::compiler {
namespace {

class Inserter {
 public:
  Inserter(om::Graph& graph, const QuantizationScheme& scheme)
      : graph_(graph), scheme_(scheme), sites_(FindQuantizationSites(graph, scheme.real_nodes)) {
    const Uses uses(graph);
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      const auto id = static_cast<om::TensorId>(i);
      const auto known = scheme.factored.find(graph.tensors[i].name);
      if (known != scheme.factored.end() && sites_.as_bytes[i] && !IsLookedUp(uses, id) &&
          TakesChannelFactors(graph, uses, id))
        factored_[id] = &known->second;
    }
  }

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
      if (const auto factored = factored_.find(source); factored != factored_.end())
        DivideWeightsOf(node, factored->second->factors);
      if (integer) QuantizeWeightsOf(node, MeansOf(source));
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
    if (IsBeforeComputed(tensor.name)) return;
    const auto factored = factored_.find(id);
    const om::Quantization* quantization = nullptr;
    if (factored != factored_.end()) {
      quantization = &factored->second->quantization;
    } else if (const auto known = scheme_.tensors.find(tensor.name); known != scheme_.tensors.end()) {
      quantization = &known->second;
    } else {
      return;
    }
    const om::TensorId source = factored != factored_.end() ? Multiply(tensor, id, factored->second->factors) : id;
    om::Tensor bytes{tensor.name + kBytesSuffix, om::DataType::kUInt8, tensor.dims, nullptr,
                     std::make_shared<const om::Quantization>(*quantization)};
    const om::TensorId bytes_id = AddTensor(graph_, std::move(bytes));
    const om::TensorId real = AddTensor(graph_, {tensor.name + kRoundedSuffix, om::DataType::kFloat32, tensor.dims, nullptr});
    graph_.nodes.push_back({"quantize_" + tensor.name, "Quantize", {source}, {bytes_id}, {}});
    graph_.nodes.push_back({"dequantize_" + tensor.name, "Dequantize", {bytes_id}, {real}, {}});
    rounded_[id] = real;
  }

  // Whether a tensor is what a table makes of bytes.
  bool IsLookedUp(const Uses& uses, om::TensorId id) const {
    return BeforeFunction(graph_, uses, id) != om::kNoTensor && scheme_.computed.count(TensorOf(graph_, id).name) == 0;
  }
  // Whether a tensor lies before a function that is computed, so that nobody needs it as bytes.
  bool IsBeforeComputed(const std::string& name) const {
    return name.ends_with(kBeforeActivation) &&
           scheme_.computed.count(name.substr(0, name.size() - std::string_view(kBeforeActivation).size())) != 0;
  }

  // A tensor with its channels multiplied.
  om::TensorId Multiply(const om::Tensor& tensor, om::TensorId id, const std::vector<float>& factors) {
    const om::Dims dims = {1, static_cast<int64_t>(factors.size()), 1, 1};
    const om::TensorId constant = AddTensor(graph_, MakeFloats(tensor.name + ".factors", dims, factors));
    const om::TensorId product =
        AddTensor(graph_, {tensor.name + ".factored", om::DataType::kFloat32, tensor.dims, nullptr});
    graph_.nodes.push_back({"factor_" + tensor.name, "Mul", {id, constant}, {product}, {}});
    return product;
  }

  void DivideWeightsOf(om::Node& conv, const std::vector<float>& factors) {
    om::Tensor divided = TensorOf(graph_, conv.inputs[1]);
    divided = MakeFloats(divided.name + ".divided", divided.dims, DividedWeights(graph_, conv, factors));
    conv.inputs[1] = AddTensor(graph_, std::move(divided));
  }

  // Means of what a convolution reads by channel; empty when nobody knows them.
  std::vector<float> MeansOf(om::TensorId source) const {
    const auto known = scheme_.means.find(TensorOf(graph_, source).name);
    if (known == scheme_.means.end()) return {};
    std::vector<float> means = known->second;
    if (const auto factored = factored_.find(source); factored != factored_.end()) {
      for (size_t c = 0; c < means.size(); ++c) means[c] *= factored->second->factors[c];
    }
    return means;
  }

  void QuantizeWeightsOf(om::Node& conv, const std::vector<float>& means) {
    const om::Tensor weights = TensorOf(graph_, conv.inputs[1]);
    const std::span<const float> values = FloatView(weights);
    om::Quantization quantization = WeightQuantization(values, weights.dims[0]);
    om::Bytes bytes = QuantizeWeights(values, quantization);
    if (!means.empty()) CorrectBias(conv, BiasCorrection(values, bytes, quantization, means, conv));
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
  std::map<om::TensorId, const FactoredTensor*> factored_;  // those of scheme_ that the graph allows
  std::map<om::TensorId, om::TensorId> rounded_;
};

}  // namespace

Status InsertQuantization(om::Graph& graph, const QuantizationScheme& scheme) {
  if (scheme.tables) NPUSTREAM_RETURN_IF_ERROR(SeparateActivations(graph));
  Inserter(graph, scheme).Run();
  return FuseConvActivation(graph);
}

}  // namespace npustream::compiler
