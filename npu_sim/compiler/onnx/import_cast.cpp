#include <fmt/format.h>

#include "npu_sim/compiler/onnx/importers.h"
#include "npu_sim/compiler/onnx/tensor_type.h"

namespace npustream::compiler {

Status ImportCast(ImportContext& context) {
  const int64_t to = context.Int("to", 0);
  const std::optional<om::DataType> type = DataTypeFromOnnx(to);
  if (!type) return context.Unsupported(fmt::format("element type {} is not supported", OnnxTypeName(to)));
  return context.Output("Cast", {context.InputId(0)}, {}, *type, context.Dims(0));
}

Status ImportCastLike(ImportContext& context) {
  return context.Output("Cast", {context.InputId(0)}, {}, context.Input(1).type, context.Dims(0));
}

}  // namespace npustream::compiler
