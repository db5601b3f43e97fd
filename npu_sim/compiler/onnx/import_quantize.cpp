#include "npu_sim/compiler/onnx/import_quantize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/onnx/importers.h"
#include "npu_sim/compiler/onnx/tensor_type.h"

namespace npustream::compiler {
namespace {

bool IsConstant(const ImportContext& context, size_t input) {
  return !context.HasInput(input) || context.Input(input).is_constant();
}

// The axis that several scales belong to.
Result<int64_t> ScaleAxis(const ImportContext& context, size_t scale, int64_t axis, const om::Dims& dims) {
  const int64_t count = om::ElementCount(context.Dims(scale));
  if (context.Rank(scale) != 1 || context.Int("block_size", 0) != 0)
    return context.Unsupported("quantisation in blocks is not supported");
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t normal, context.Axis(axis, static_cast<int64_t>(dims.size())));
  if (dims[static_cast<size_t>(normal)] != count)
    return context.Error(fmt::format("{} scales do not fit axis {} of [{}]", count, normal, fmt::join(dims, ",")));
  return normal;
}

// What constant scales and zero points say about the integers of a tensor of `dims` and `type`.
Result<om::Quantization> ReadQuantization(const ImportContext& context, size_t scale, size_t zero_point, int64_t axis,
                                          const om::Dims& dims, om::DataType type) {
  om::Quantization result;
  NPUSTREAM_ASSIGN_OR_RETURN(result.scales, context.ConstantFloats(scale, "the scale"));
  const size_t count = result.scales.size();
  if (count == 0) return context.Error("the scale is empty");
  for (const float value : result.scales) {
    if (!std::isfinite(value) || value <= 0) return context.Error(fmt::format("a scale of {}", value));
  }
  if (count > 1) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t normal, ScaleAxis(context, scale, axis, dims));
    result.axis = static_cast<int32_t>(normal);
  }
  result.zero_points.assign(count, 0);
  if (context.HasInput(zero_point)) {
    if (const om::DataType other = context.Input(zero_point).type; other != type)
      return context.Error(fmt::format("a zero point of type {} for {}", om::ToString(other), om::ToString(type)));
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> zeros, context.ConstantInts(zero_point, "the zero point"));
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

Status CheckType(const ImportContext& context, om::DataType type) {
  if (IsQuantizedType(type)) return {};
  return context.Unsupported(fmt::format("integers of type {}", om::ToString(type)));
}

// Scale or zero point that is computed, as real numbers which broadcast over a tensor of `dims`.
Result<om::TensorId> EmitParameter(ImportContext& context, size_t input, int64_t axis, const om::Dims& dims) {
  om::TensorId id = context.InputId(input);
  if (context.Input(input).type != om::DataType::kFloat32) {
    NPUSTREAM_ASSIGN_OR_RETURN(id, context.Emit("Cast", {id}, {}, om::DataType::kFloat32, context.Dims(input)));
  }
  if (om::ElementCount(context.Dims(input)) == 1)
    return context.Emit("Reshape", {id}, {}, om::DataType::kFloat32, om::Dims(dims.size(), 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t normal, ScaleAxis(context, input, axis, dims));
  om::Dims shape(dims.size(), 1);
  shape[static_cast<size_t>(normal)] = dims[static_cast<size_t>(normal)];
  return context.Emit("Reshape", {id}, {}, om::DataType::kFloat32, shape);
}

Result<om::TensorId> EmitComputedDequantize(ImportContext& context, const QuantizedInput& input, int64_t axis) {
  const om::Dims dims = context.Dims(input.integers);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, EmitShifted(context, input.integers, input.zero_point, axis));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scale, EmitParameter(context, input.scale, axis, dims));
  return context.Emit("Mul", {x, scale}, {}, om::DataType::kFloat32, dims);
}

struct Range {
  float low, high;
};
Range RangeOf(om::DataType type) {
  switch (type) {
    case om::DataType::kInt8: return {-128, 127};
    case om::DataType::kUInt16: return {0, 65535};
    case om::DataType::kInt16: return {-32768, 32767};
    default: return {0, 255};
  }
}

// Rounded, shifted and held by operators of their own.
Status OutputComputedQuantize(ImportContext& context, om::TensorId real, size_t scale, size_t zero_point, int64_t axis,
                              om::DataType type) {
  const om::Dims dims = context.Tensor(real).dims;
  constexpr om::DataType kReal = om::DataType::kFloat32;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId step, EmitParameter(context, scale, axis, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId quotient, context.Emit("Div", {real, step}, {}, kReal, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId rounded, context.Emit("Round", {quotient}, {}, kReal, dims));
  if (context.HasInput(zero_point)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId zero, EmitParameter(context, zero_point, axis, dims));
    NPUSTREAM_ASSIGN_OR_RETURN(rounded, context.Emit("Add", {rounded, zero}, {}, kReal, dims));
  }
  const Range range = RangeOf(type);
  NPUSTREAM_ASSIGN_OR_RETURN(
      const om::TensorId held,
      context.Emit("Clip", {rounded}, {{"min", range.low}, {"max", range.high}}, kReal, dims));
  return context.Output("Cast", {held}, {}, type, dims);
}

}  // namespace

Result<om::TensorId> EmitShifted(ImportContext& context, size_t integers, size_t zero_point, int64_t axis) {
  const om::Dims dims = context.Dims(integers);
  constexpr om::DataType kReal = om::DataType::kFloat32;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, context.Emit("Cast", {context.InputId(integers)}, {}, kReal, dims));
  if (!context.HasInput(zero_point)) return x;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId zero, EmitParameter(context, zero_point, axis, dims));
  return context.Emit("Sub", {x, zero}, {}, kReal, dims);
}

Result<om::TensorId> EmitDequantized(ImportContext& context, const QuantizedInput& input, int64_t axis) {
  const om::DataType type = context.Input(input.integers).type;
  NPUSTREAM_RETURN_IF_ERROR(CheckType(context, type));
  if (!IsConstant(context, input.scale) || !IsConstant(context, input.zero_point))
    return EmitComputedDequantize(context, input, axis);
  const om::Dims dims = context.Dims(input.integers);
  NPUSTREAM_ASSIGN_OR_RETURN(om::Quantization quantization,
                             ReadQuantization(context, input.scale, input.zero_point, axis, dims, type));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x,
                             context.Quantized(context.InputId(input.integers), std::move(quantization)));
  return context.Emit("Dequantize", {x}, {}, om::DataType::kFloat32, dims);
}

// The result's tensor carries scale and zero point; the node has only the real numbers.
Status OutputQuantized(ImportContext& context, om::TensorId real, size_t scale, size_t zero_point, int64_t axis) {
  om::DataType type = context.HasInput(zero_point) ? context.Input(zero_point).type : om::DataType::kUInt8;
  if (const int64_t wanted = context.Int("output_dtype", 0); wanted != 0 && !context.HasInput(zero_point)) {
    const std::optional<om::DataType> known = DataTypeFromOnnx(wanted);
    if (!known) return context.Unsupported(fmt::format("element type {} is not supported", wanted));
    type = *known;
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckType(context, type));
  if (!IsConstant(context, scale) || !IsConstant(context, zero_point))
    return OutputComputedQuantize(context, real, scale, zero_point, axis, type);
  const om::Dims dims = context.Tensor(real).dims;
  NPUSTREAM_ASSIGN_OR_RETURN(om::Quantization quantization,
                             ReadQuantization(context, scale, zero_point, axis, dims, type));
  NPUSTREAM_RETURN_IF_ERROR(context.Output("Quantize", {real}, {}, type, dims));
  context.SetQuantization(context.OutputId(0), std::move(quantization));
  return {};
}

Status ImportQuantizeLinear(ImportContext& context) {
  return OutputQuantized(context, context.InputId(0), 1, 2, context.Int("axis", 1));
}

// y = (x − zero point) · scale. The input's tensor gets to carry both; one that carries others already is copied.
Status ImportDequantizeLinear(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId real, EmitDequantized(context, {0, 1, 2}, context.Int("axis", 1)));
  return context.Bind(0, real);
}

}  // namespace npustream::compiler
