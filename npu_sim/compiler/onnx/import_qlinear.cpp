// Operators on quantised tensors (QLinear… of ONNX and of com.microsoft, …Integer, DynamicQuantizeLinear). Each becomes
// what it stands for: its operands' real numbers, the operator on those, and the result's integers. The passes make
// operators on integers of it where there are kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_quantize.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

constexpr std::string_view kPrefix = "QLinear";
// Inputs that a quantised tensor takes: integers, scale, zero point.
constexpr size_t kParts = 3;

// The operator on real numbers that `op` does on quantised ones.
const char* RealOperator(const std::string& op) {
  const std::string_view name = std::string_view(op).substr(std::min(kPrefix.size(), op.size()));
  constexpr const char* kNames[] = {"Add",       "AveragePool", "Concat", "Conv",   "GlobalAveragePool",
                                    "LeakyRelu", "MatMul",      "Mul",    "Sigmoid"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  return found == std::end(kNames) ? "" : *found;
}

// int32 in steps of the products: source scale · weight scale, which may be per result channel.
Result<om::TensorId> EmitBias(ImportContext& context, size_t bias, size_t source_scale, size_t weight_scale) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> source, context.ConstantFloats(source_scale, "the scale"));
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<float> steps, context.ConstantFloats(weight_scale, "the weights' scale"));
  if (source.size() != 1 || (steps.size() > 1 && context.Dims(bias) != om::Dims{static_cast<int64_t>(steps.size())}))
    return context.Error("its scales do not fit its bias");
  for (float& step : steps) step *= source[0];
  std::vector<int32_t> zeros(steps.size());
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId integers,
                             context.Quantized(context.InputId(bias), {std::move(steps), std::move(zeros), 0}));
  return context.Emit("Dequantize", {integers}, {}, om::DataType::kFloat32, context.Dims(bias));
}

Status RequireChannelsFirst(const ImportContext& context) {
  if (context.Int("channels_last", 0) == 0) return {};
  return context.Unsupported("channels_last is not supported");
}

}  // namespace

// One or two operands, then scale and zero point of the result.
Status ImportQLinear(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(RequireChannelsFirst(context));
  const size_t operands = context.InputCount() / kParts;
  std::vector<om::TensorId> reals;
  for (size_t i = 0; i < operands; ++i) {
    const size_t first = i * kParts;
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId real, EmitDequantized(context, {first, first + 1, first + 2}, -1));
    reals.push_back(real);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y, context.Compose(RealOperator(context.node().op), std::move(reals),
                                                                   context.node().attributes));
  return OutputQuantized(context, y, operands * kParts, operands * kParts + 1, 1);
}

// Inputs: source (0–2), weights (3–5, whose scales may be per result channel), result (6, 7), bias (8).
Status ImportQLinearConv(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, EmitDequantized(context, {0, 1, 2}, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId w, EmitDequantized(context, {3, 4, 5}, 0));
  std::vector<om::TensorId> inputs = {x, w};
  if (context.HasInput(8)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId bias, EmitBias(context, 8, 1, 4));
    inputs.push_back(bias);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y,
                             context.Compose("Conv", std::move(inputs), context.node().attributes));
  return OutputQuantized(context, y, 6, 7, 1);
}

// alpha · (A · B + C): A (0–2), B (3–5, whose scales may be per column), C (6), and scale and zero point of a result
// that is quantised (7, 8).
Status ImportQGemm(ImportContext& context) {
  const int64_t columns_axis = context.Int("transB", 0) != 0 ? 0 : 1;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId a, EmitDequantized(context, {0, 1, 2}, -1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId b, EmitDequantized(context, {3, 4, 5}, columns_axis));
  std::vector<om::TensorId> inputs = {a, b};
  if (context.HasInput(6)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId bias, EmitBias(context, 6, 1, 4));
    inputs.push_back(bias);
  }
  om::Attributes attributes = context.node().attributes;
  attributes["beta"] = context.Float("alpha", 1);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y, context.Compose("Gemm", std::move(inputs), std::move(attributes)));
  return context.HasInput(7) ? OutputQuantized(context, y, 7, 8, 1) : context.Bind(0, y);
}

// Products of integers less their zero points, as int32: source, weights, and the zero points of both. The sums are
// those of real numbers, exact up to 2^24.
Status ImportInteger(ImportContext& context) {
  const bool convolves = context.node().op == "ConvInteger";
  // Zero points of a matrix: one per row of the left one, per column of the right one.
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, EmitShifted(context, 0, 2, convolves ? 1 : -2));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId w, EmitShifted(context, 1, 3, convolves ? 0 : -1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y,
                             context.Compose(convolves ? "Conv" : "MatMul", {x, w}, context.node().attributes));
  return context.Output("Cast", {y}, {}, om::DataType::kInt32, context.Tensor(y).dims);
}

// To uint8 over the range that the input has, with 0 in it: integers, scale, zero point.
Status ImportDynamicQuantizeLinear(ImportContext& context) {
  const om::Dims dims = context.Dims(0), one;
  constexpr om::DataType kReal = om::DataType::kFloat32;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < context.Rank(0); ++i) axes.push_back(i);
  const om::Attributes all = {{"axes", axes}, {"keepdims", int64_t{0}}}, byte = {{"min", 0.0f}, {"max", 255.0f}};
  const om::TensorId x = context.InputId(0), zero = context.Number(".zero", 0), steps = context.Number(".steps", 255);
  const auto emit = [&](const char* op, std::vector<om::TensorId> inputs, const om::Attributes& attributes,
                        const om::Dims& shape) {
    return context.Emit(op, std::move(inputs), attributes, kReal, shape);
  };
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId least, emit("ReduceMin", {x}, all, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId greatest, emit("ReduceMax", {x}, all, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId low, emit("Min", {least, zero}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId high, emit("Max", {greatest, zero}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId range, emit("Sub", {high, low}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scale, emit("Div", {range, steps}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId below, emit("Div", {low, scale}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId negative, emit("Sub", {zero, below}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId held_zero, emit("Clip", {negative}, byte, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId zero_point, emit("Round", {held_zero}, {}, one));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId quotient, emit("Div", {x, scale}, {}, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId rounded, emit("Round", {quotient}, {}, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId shifted, emit("Add", {rounded, zero_point}, {}, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId held, emit("Clip", {shifted}, byte, dims));
  if (context.WantsOutput(1)) NPUSTREAM_RETURN_IF_ERROR(context.Bind(1, scale));
  if (context.WantsOutput(2)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId integer,
                               context.Emit("Cast", {zero_point}, {}, om::DataType::kUInt8, one));
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(2, integer));
  }
  return context.Output("Cast", {held}, {}, om::DataType::kUInt8, dims);
}

// Which axes are normalised depends on the opset that the model had before it was quantised. Shares are rounded in
// steps of one whole part, 1 / floor(1 / scale), as ONNX Runtime does.
Status ImportQLinearSoftmax(ImportContext& context) {
  const int64_t rank = context.Rank(0), opset = context.Int("opset", 13);
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", opset < 13 ? 1 : -1), rank));
  if (opset < 13 && axis != rank - 1) return context.Unsupported("several axes are not supported");
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, EmitDequantized(context, {0, 1, 2}, -1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y,
                             context.Emit("Softmax", {x}, {{"axis", axis}}, om::DataType::kFloat32, context.Dims(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> scale, context.ConstantFloats(3, "the scale"));
  if (scale.size() != 1 || !(scale[0] > 0) || scale[0] > 1) return context.Error("the result's scale is out of range");
  const float part = scale[0] * std::floor(1 / scale[0]);
  if (part == 1) return OutputQuantized(context, y, 3, 4, 1);
  const om::TensorId factor = context.Number(".part", part);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId shares, context.Compose("Mul", {y, factor}));
  return OutputQuantized(context, shares, 3, 4, 1);
}

// The result's scale and zero point come first, then any number of operands.
Status ImportQLinearConcat(ImportContext& context) {
  std::vector<om::TensorId> reals;
  for (size_t first = 2; first + kParts <= context.InputCount(); first += kParts) {
    if (!context.HasInput(first) || !context.HasInput(first + 1)) return context.Error("an operand is missing");
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId real, EmitDequantized(context, {first, first + 1, first + 2}, 1));
    reals.push_back(real);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y,
                             context.Compose("Concat", std::move(reals), context.node().attributes));
  return OutputQuantized(context, y, 0, 1, 1);
}

}  // namespace npustream::compiler
