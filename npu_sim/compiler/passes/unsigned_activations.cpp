#include "npu_sim/compiler/passes/unsigned_activations.h"

#include <algorithm>

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {
namespace {

constexpr int32_t kShift = 128;

// Whether nobody but Quantize and Dequantize nodes looks at the integers.
bool OnlyBetweenReals(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  if (uses.IsGraphOutput(id)) return false;
  const std::vector<int>& readers = uses.Consumers(id);
  const bool read = std::all_of(readers.begin(), readers.end(), [&](int reader) {
    return graph.nodes[static_cast<size_t>(reader)].op == "Dequantize";
  });
  if (!read || TensorOf(graph, id).is_constant()) return read;
  const int producer = uses.Producer(id);
  return producer >= 0 && graph.nodes[static_cast<size_t>(producer)].op == "Quantize";
}

// The tensor with integers of the other signedness.
void Shift(om::Tensor& tensor, om::DataType type, int32_t by) {
  om::Quantization shifted = *tensor.quantization;
  for (int32_t& zero : shifted.zero_points) zero += by;
  tensor.quantization = std::make_shared<const om::Quantization>(std::move(shifted));
  tensor.type = type;
  if (!tensor.constant) return;
  om::Bytes bytes = *tensor.constant;
  for (std::byte& byte : bytes) byte ^= std::byte{0x80};
  tensor.constant = std::make_shared<const om::Bytes>(std::move(bytes));
}

}  // namespace

Status UnsignedActivations(om::Graph& graph) {
  const Uses uses(graph);
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    om::Tensor& tensor = graph.tensors[i];
    if (!tensor.quantization || !OnlyBetweenReals(graph, uses, static_cast<om::TensorId>(i))) continue;
    if (tensor.type == om::DataType::kInt8 && !tensor.is_constant()) Shift(tensor, om::DataType::kUInt8, kShift);
    if (tensor.type == om::DataType::kUInt8 && tensor.is_constant()) Shift(tensor, om::DataType::kInt8, -kShift);
  }
  return {};
}

}  // namespace npustream::compiler
