// Operators that an extension library has (npu_sim/extension).
#include "npu_sim/compiler/onnx/importers.h"
#include "npu_sim/extension/custom_operator.h"
#include "npu_sim/extension/registry.h"

namespace npustream::compiler {

Status ImportCustom(ImportContext& context) {
  const OnnxNode& node = context.node();
  const std::string name = node.domain + "." + node.op;
  const NpustreamOperator* op = extension::FindOperator(name);
  if (op == nullptr) return context.Unsupported("there is no such operator");
  std::vector<om::TensorId> ids;
  std::vector<NpustreamTensor> inputs;
  for (size_t i = 0; i < context.InputCount(); ++i) {
    ids.push_back(context.InputId(i));
    if (!context.HasInput(i)) {
      inputs.push_back(extension::AbsentTensor());
      continue;
    }
    const om::Tensor& input = context.Input(i);
    const void* data = input.is_constant() ? input.constant->data() : nullptr;
    NPUSTREAM_ASSIGN_OR_RETURN(inputs.emplace_back(),
                               extension::TensorOf(input.name.c_str(), input.type, input.dims, data));
  }
  const om::Node shape_of{node.name, name, {}, {}, node.attributes};
  auto inferred = extension::Infer(*op, shape_of, inputs);
  if (!inferred.ok()) return context.Error(inferred.status().message());
  std::vector<om::Tensor> results;
  for (extension::Inferred& result : *inferred) results.push_back({"", result.type, std::move(result.dims), nullptr});
  return context.OutputMany(name, std::move(ids), node.attributes, results);
}

}  // namespace npustream::compiler
