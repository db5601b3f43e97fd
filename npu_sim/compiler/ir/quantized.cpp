#include "npu_sim/compiler/ir/quantized.h"

#include <algorithm>
#include <string_view>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {

om::TensorId IntegersOf(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  const om::Node* producer = ProducerOf(graph, uses, id, "Dequantize");
  return producer != nullptr ? producer->inputs[0] : om::kNoTensor;
}

int QuantizedOnlyBy(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  const int reader = uses.OnlyConsumer(id);
  return reader >= 0 && graph.nodes[static_cast<size_t>(reader)].op == "Quantize" ? reader : -1;
}

bool IsByteTensor(const om::Tensor& tensor) {
  return tensor.type == om::DataType::kUInt8 && tensor.quantization && tensor.quantization->IsPerTensor();
}

bool SameQuantization(const om::Tensor& a, const om::Tensor& b) {
  return a.type == b.type && a.quantization && b.quantization && *a.quantization == *b.quantization;
}

bool PicksElements(const om::Node& node) {
  constexpr std::string_view kOps[] = {"Concat", "Expand", "Gather",  "MaxPool", "Reshape",
                                       "Slice",  "Split",  "Tile",    "Transpose"};
  if (std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps)) return true;
  return node.op == "Resize" && om::GetString(node, "mode", "nearest") == "nearest";
}

}  // namespace npustream::compiler
