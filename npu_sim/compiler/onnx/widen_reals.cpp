#include "npu_sim/compiler/onnx/widen_reals.h"

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/tensor_type.h"

namespace npustream::compiler {
namespace {

constexpr int64_t kOnnxFloat = 1;

void Widen(om::Tensor& tensor) {
  if (!IsWidened(tensor.type)) return;
  const Result<std::vector<float>> values = ReadFloats(tensor);
  if (values.ok()) tensor = MakeFloats(tensor.name, tensor.dims, *values);
}

void WidenCast(OnnxNode& node) {
  const auto to = node.attributes.find("to");
  if (node.op != "Cast" || to == node.attributes.end()) return;
  const int64_t* number = std::get_if<int64_t>(&to->second);
  const auto type = number != nullptr ? DataTypeFromOnnx(*number) : std::nullopt;
  if (type && IsWidened(*type)) to->second = kOnnxFloat;
}

}  // namespace

bool IsWidened(om::DataType type) {
  return type == om::DataType::kFloat16 || type == om::DataType::kBFloat16 || type == om::DataType::kDouble;
}

OnnxGraph WidenReals(OnnxGraph graph) {
  for (auto& [name, tensor] : graph.initializers) Widen(tensor);
  for (OnnxNode& node : graph.nodes) {
    WidenCast(node);
    for (auto& [name, tensor] : node.tensors) Widen(tensor);
    for (auto& [name, subgraph] : node.subgraphs)
      subgraph = std::make_shared<const OnnxGraph>(WidenReals(*subgraph));
  }
  return graph;
}

}  // namespace npustream::compiler
