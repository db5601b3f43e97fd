#include "npu_sim/compiler/ir/quantized.h"

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

}  // namespace npustream::compiler
