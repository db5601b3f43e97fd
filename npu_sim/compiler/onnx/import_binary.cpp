#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

Result<om::Dims> Broadcast(const ImportContext& context, const om::Dims& a, const om::Dims& b) {
  if (std::optional<om::Dims> dims = BroadcastDims(a, b)) return std::move(*dims);
  return context.Error(
      fmt::format("the shapes [{}] and [{}] do not fit together", fmt::join(a, ","), fmt::join(b, ",")));
}

Status CheckSameType(const ImportContext& context, size_t a, size_t b) {
  if (context.Input(a).type == context.Input(b).type) return {};
  return context.Error(fmt::format("its inputs have different types, {} and {}", om::ToString(context.Input(a).type),
                                   om::ToString(context.Input(b).type)));
}

// a op b op c …, from left to right; the last result is output 0.
Status OutputChain(ImportContext& context, const std::string& op, om::TensorId last_factor) {
  om::TensorId sum = context.InputId(0);
  om::Dims dims = context.Dims(0);
  const om::DataType type = context.Input(0).type;
  for (size_t i = 1; i < context.InputCount(); ++i) {
    NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 0, i));
    NPUSTREAM_ASSIGN_OR_RETURN(dims, Broadcast(context, dims, context.Dims(i)));
    const bool is_last = i + 1 == context.InputCount() && last_factor == om::kNoTensor;
    if (is_last) return context.Output(op, {sum, context.InputId(i)}, {}, type, dims);
    NPUSTREAM_ASSIGN_OR_RETURN(sum, context.Emit(op, {sum, context.InputId(i)}, {}, type, dims));
  }
  if (last_factor == om::kNoTensor) return context.Output("Reshape", {sum}, {}, dims);
  return context.Output("Mul", {sum, last_factor}, {}, type, dims);
}

Status CheckAllPresent(const ImportContext& context) {
  for (size_t i = 0; i < context.InputCount(); ++i) {
    if (!context.HasInput(i)) return context.Error(fmt::format("input {} is missing", i));
  }
  return {};
}

}  // namespace

Status ImportBinary(ImportContext& context) {
  // Pow's exponent may have another type; every other operator wants equal ones.
  om::TensorId second = context.InputId(1);
  if (context.node().op == "Pow" && context.Input(0).type != context.Input(1).type) {
    NPUSTREAM_ASSIGN_OR_RETURN(second, context.Emit("Cast", {second}, {}, context.Input(0).type, context.Dims(1)));
  } else {
    NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 0, 1));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(om::Dims dims, Broadcast(context, context.Dims(0), context.Dims(1)));
  return context.Output(context.node().op, {context.InputId(0), second}, {}, std::move(dims));
}

// Of real numbers the remainder has the dividend's sign (fmod = 1), of integers the divisor's; with fmod = 1 integers
// are composed of the quotient, which is rounded towards zero.
Status ImportMod(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 0, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Dims dims, Broadcast(context, context.Dims(0), context.Dims(1)));
  const om::TensorId a = context.InputId(0), b = context.InputId(1);
  const om::DataType type = context.Input(0).type;
  const bool real = type == om::DataType::kFloat32 || type == om::DataType::kFloat16 || type == om::DataType::kDouble;
  const bool fmod = context.Int("fmod", 0) != 0;
  if (real && !fmod) return context.Error("fmod must be 1 for real numbers");
  if (real || !fmod) return context.Output("Mod", {a, b}, {{"fmod", int64_t{fmod}}}, dims);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId quotient, context.Emit("Div", {a, b}, {}, type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId whole, context.Emit("Mul", {quotient, b}, {}, type, dims));
  return context.Output("Sub", {a, whole}, {}, dims);
}

Status ImportBitShift(ImportContext& context) {
  const std::string direction = context.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return context.Error(fmt::format("direction '{}' does not exist", direction));
  NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 0, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(om::Dims dims, Broadcast(context, context.Dims(0), context.Dims(1)));
  return context.Output(direction == "LEFT" ? "ShiftLeft" : "ShiftRight", {context.InputId(0), context.InputId(1)}, {},
                        std::move(dims));
}

Status ImportCompare(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 0, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(om::Dims dims, Broadcast(context, context.Dims(0), context.Dims(1)));
  return context.Output(context.node().op, {context.InputId(0), context.InputId(1)}, {}, om::DataType::kBool,
                        std::move(dims));
}

Status ImportVariadic(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckAllPresent(context));
  return OutputChain(context, context.node().op == "Sum" ? "Add" : context.node().op, om::kNoTensor);
}

Status ImportMean(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckAllPresent(context));
  const float share = 1.0f / static_cast<float>(context.InputCount());
  const om::TensorId factor = context.Number(".share", share);
  return OutputChain(context, "Add", factor);
}

Status ImportPRelu(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 0, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Dims dims, Broadcast(context, context.Dims(0), context.Dims(1)));
  if (dims != context.Dims(0)) return context.Error("the slope is larger than the input");
  // One slope for all channels is a LeakyRelu.
  if (context.Input(1).is_constant() && om::ElementCount(context.Dims(1)) == 1) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> slope, context.ConstantFloats(1, "the slope"));
    return context.Output("LeakyRelu", {context.InputId(0)}, {{"alpha", slope[0]}}, dims);
  }
  return context.Output("PRelu", {context.InputId(0), context.InputId(1)}, {}, dims);
}

Status ImportWhere(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckSameType(context, 1, 2));
  NPUSTREAM_ASSIGN_OR_RETURN(om::Dims dims, Broadcast(context, context.Dims(1), context.Dims(2)));
  NPUSTREAM_ASSIGN_OR_RETURN(dims, Broadcast(context, context.Dims(0), dims));
  return context.Output("Where", {context.InputId(0), context.InputId(1), context.InputId(2)}, {},
                        context.Input(1).type, std::move(dims));
}

}  // namespace npustream::compiler
