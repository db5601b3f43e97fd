#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/onnx/importers.h"
#include "npu_sim/compiler/onnx/tensor_type.h"

namespace npustream::compiler {
namespace {

// What inputs 1 (scale) and 2 (zero point, may be missing) say about the integers of a tensor of `dims`.
Result<om::Quantization> ReadQuantization(const ImportContext& context, const om::Dims& dims) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  om::Quantization result;
  NPUSTREAM_ASSIGN_OR_RETURN(result.scales, context.ConstantFloats(1, "the scale"));
  const size_t count = result.scales.size();
  if (count == 0) return context.Error("the scale is empty");
  for (const float scale : result.scales) {
    if (!std::isfinite(scale) || scale <= 0) return context.Error(fmt::format("a scale of {}", scale));
  }
  if (count > 1) {
    if (context.Rank(1) != 1 || context.Int("block_size", 0) != 0)
      return context.Unsupported("quantisation in blocks is not supported");
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 1), rank));
    if (dims[static_cast<size_t>(axis)] != static_cast<int64_t>(count)) {
      return context.Error(
          fmt::format("{} scales do not fit axis {} of [{}]", count, axis, fmt::join(dims, ",")));
    }
    result.axis = static_cast<int32_t>(axis);
  }
  result.zero_points.assign(count, 0);
  if (context.HasInput(2)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> zeros, context.ConstantInts(2, "the zero point"));
    if (zeros.size() != count)
      return context.Error(fmt::format("{} scales, but {} zero points", count, zeros.size()));
    result.zero_points.assign(zeros.begin(), zeros.end());
  }
  return result;
}

bool IsQuantizedType(om::DataType type) {
  return type == om::DataType::kUInt8 || type == om::DataType::kInt8 || type == om::DataType::kUInt16 ||
         type == om::DataType::kInt16 || type == om::DataType::kInt32;
}

}  // namespace

// The result's tensor carries scale and zero point; the node has only the real numbers.
Status ImportQuantizeLinear(ImportContext& context) {
  om::DataType type = context.HasInput(2) ? context.Input(2).type : om::DataType::kUInt8;
  if (const int64_t wanted = context.Int("output_dtype", 0); wanted != 0 && !context.HasInput(2)) {
    const std::optional<om::DataType> known = DataTypeFromOnnx(wanted);
    if (!known) return context.Unsupported(fmt::format("element type {} is not supported", wanted));
    type = *known;
  }
  if (!IsQuantizedType(type)) return context.Unsupported(fmt::format("integers of type {}", om::ToString(type)));
  NPUSTREAM_ASSIGN_OR_RETURN(om::Quantization quantization, ReadQuantization(context, context.Dims(0)));
  NPUSTREAM_RETURN_IF_ERROR(context.Output("Quantize", {context.InputId(0)}, {}, type, context.Dims(0)));
  context.SetQuantization(context.OutputId(0), std::move(quantization));
  return {};
}

// y = (x − zero point) · scale. The input's tensor gets to carry both; one that carries others already is copied.
Status ImportDequantizeLinear(ImportContext& context) {
  if (!IsQuantizedType(context.Input(0).type))
    return context.Unsupported(fmt::format("integers of type {}", om::ToString(context.Input(0).type)));
  NPUSTREAM_ASSIGN_OR_RETURN(om::Quantization quantization, ReadQuantization(context, context.Dims(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, context.Quantized(context.InputId(0), std::move(quantization)));
  return context.Output("Dequantize", {x}, {}, om::DataType::kFloat32, context.Dims(0));
}

}  // namespace npustream::compiler
