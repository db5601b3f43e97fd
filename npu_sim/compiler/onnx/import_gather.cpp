#include <fmt/format.h>

#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

Status CheckIndices(const ImportContext& context, size_t input, int64_t extent) {
  const om::Tensor& indices = context.Input(input);
  if (indices.type != om::DataType::kInt64 && indices.type != om::DataType::kInt32) {
    return context.Error(fmt::format("its indices are {}", om::ToString(indices.type)));
  }
  if (!indices.is_constant()) return {};
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> values, context.ConstantInts(input, "the indices"));
  for (const int64_t value : values) {
    if (value < -extent || value >= extent) {
      return context.Error(fmt::format("index {} does not exist in {} places", value, extent));
    }
  }
  return {};
}

}  // namespace

Status ImportGather(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
  const om::Dims &x = context.Dims(0), &indices = context.Dims(1);
  NPUSTREAM_RETURN_IF_ERROR(CheckIndices(context, 1, x[static_cast<size_t>(axis)]));
  om::Dims dims(x.begin(), x.begin() + axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), x.begin() + axis + 1, x.end());
  return context.Output("Gather", {context.InputId(0), context.InputId(1)}, {{"axis", axis}}, std::move(dims));
}

}  // namespace npustream::compiler
