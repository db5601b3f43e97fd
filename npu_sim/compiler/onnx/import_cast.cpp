#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/compiler/ir/constants.h"
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

namespace {

// The scale or zero point of element `i` for one value per tensor, or one per index on an axis.
struct PerAxis {
  std::vector<float> values;
  int64_t inner = 1;  // elements behind the axis
  float At(int64_t i) const {
    return values.size() == 1 ? values[0] : values[static_cast<size_t>(i / inner) % values.size()];
  }
};

Result<PerAxis> ReadPerAxis(const ImportContext& context, size_t input, int64_t axis, const char* what) {
  const om::Dims& x = context.Dims(0);
  PerAxis result;
  NPUSTREAM_ASSIGN_OR_RETURN(result.values, context.ConstantFloats(input, what));
  const int64_t count = static_cast<int64_t>(result.values.size());
  if (count != 1) {
    if (context.Rank(input) != 1) return context.Unsupported("quantisation in blocks is not supported");
    if (axis >= static_cast<int64_t>(x.size()) || x[static_cast<size_t>(axis)] != count) {
      return context.Error(
          fmt::format("{} has {} values, which axis {} of [{}] has not", what, count, axis, fmt::join(x, ",")));
    }
    for (size_t i = static_cast<size_t>(axis) + 1; i < x.size(); ++i) result.inner *= x[i];
  }
  return result;
}

}  // namespace

// Only of constants: weights that are stored in fewer bits. y = (x − zero point) · scale.
Status ImportDequantizeLinear(ImportContext& context) {
  if (!context.Input(0).is_constant()) {
    return context.Unsupported("quantised activations are not supported; only weights may be stored quantised");
  }
  int64_t axis = 0;
  if (context.Rank(0) > 0) {
    NPUSTREAM_ASSIGN_OR_RETURN(axis, context.Axis(context.Rank(0) > 1 ? context.Int("axis", 1) : 0, context.Rank(0)));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const PerAxis scale, ReadPerAxis(context, 1, axis, "the scale"));
  PerAxis zero{{0.0f}, 1};
  if (context.HasInput(2)) {
    NPUSTREAM_ASSIGN_OR_RETURN(zero, ReadPerAxis(context, 2, axis, "the zero point"));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> stored, context.ConstantInts(0, "the input"));
  std::vector<float> values(stored.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i);
    values[i] = (static_cast<float>(stored[i]) - zero.At(at)) * scale.At(at);
  }
  return context.Bind(0, context.Constant(MakeFloats(context.node().outputs[0], context.Dims(0), values)));
}

}  // namespace npustream::compiler
