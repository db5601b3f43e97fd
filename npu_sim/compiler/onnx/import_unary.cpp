#include <fmt/format.h>

#include <limits>
#include <map>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {

Status ImportUnary(ImportContext& context) {
  return context.Output(context.node().op, {context.InputId(0)}, {}, context.Dims(0));
}

Status ImportUnaryWithAlpha(ImportContext& context) {
  static const std::map<std::string, float> kDefaults = {{"Elu", 1.0f}, {"LeakyRelu", 0.01f}};
  const float alpha = context.Float("alpha", kDefaults.at(context.node().op));
  return context.Output(context.node().op, {context.InputId(0)}, {{"alpha", alpha}}, context.Dims(0));
}

Status ImportHardSigmoid(ImportContext& context) {
  const om::Attributes attributes = {{"alpha", context.Float("alpha", 0.2f)}, {"beta", context.Float("beta", 0.5f)}};
  return context.Output("HardSigmoid", {context.InputId(0)}, attributes, context.Dims(0));
}

Status ImportGelu(ImportContext& context) {
  const std::string approximate = context.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return context.Error(fmt::format("approximate '{}' does not exist", approximate));
  }
  return context.Output("Gelu", {context.InputId(0)}, {{"approximate", approximate}}, context.Dims(0));
}

// gamma · (max(0, x) + min(0, alpha · (exp(x) − 1))) is gamma · Elu(x).
Status ImportSelu(ImportContext& context) {
  const float alpha = context.Float("alpha", 1.6732632423543772f);
  const float gamma = context.Float("gamma", 1.0507009873554805f);
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId elu,
                             context.Emit("Elu", {context.InputId(0)}, {{"alpha", alpha}}, type, context.Dims(0)));
  const om::TensorId scale = context.Number(".gamma", gamma);
  return context.Output("Mul", {elu, scale}, {}, context.Dims(0));
}

// max(0, x) + min(0, alpha · (exp(x / alpha) − 1)) is alpha · Elu(x / alpha).
Status ImportCelu(ImportContext& context) {
  const float alpha = context.Float("alpha", 1.0f);
  if (!(alpha != 0)) return context.Error("alpha is 0");
  const float inverse = 1.0f / alpha;
  const om::DataType type = context.Input(0).type;
  const om::TensorId shrink = context.Number(".shrink", inverse);
  const om::TensorId grow = context.Number(".grow", alpha);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled,
                             context.Emit("Mul", {context.InputId(0), shrink}, {}, type, context.Dims(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId elu,
                             context.Emit("Elu", {scaled}, {{"alpha", 1.0f}}, type, context.Dims(0)));
  return context.Output("Mul", {elu, grow}, {}, context.Dims(0));
}

// x where it is above alpha, else 0.
Status ImportThresholdedRelu(ImportContext& context) {
  const float alpha = context.Float("alpha", 1.0f), zero = 0;
  const om::TensorId threshold = context.Number(".alpha", alpha);
  const om::TensorId otherwise = context.Number(".zero", zero);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId above, context.Emit("Greater", {context.InputId(0), threshold}, {},
                                                                    om::DataType::kBool, context.Dims(0)));
  return context.Output("Where", {above, context.InputId(0), otherwise}, {}, context.Dims(0));
}

// True where a number is not equal to itself.
Status ImportIsNan(ImportContext& context) {
  const om::TensorId x = context.InputId(0);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId equal,
                             context.Emit("Equal", {x, x}, {}, om::DataType::kBool, context.Dims(0)));
  return context.Output("Not", {equal}, {}, om::DataType::kBool, context.Dims(0));
}

Status ImportIsInf(ImportContext& context) {
  const bool positive = context.Int("detect_positive", 1) != 0, negative = context.Int("detect_negative", 1) != 0;
  const om::Dims dims = context.Dims(0);
  om::TensorId x = context.InputId(0);
  if (positive == negative) {
    NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit("Abs", {x}, {}, context.Input(0).type, dims));
  }
  // Nothing has the value that is looked for when neither sign is: no magnitude is below zero.
  const float infinity = std::numeric_limits<float>::infinity(), sought = positive ? infinity : -infinity;
  const om::TensorId value = context.Number(".infinity", sought);
  return context.Output("Equal", {x, value}, {}, om::DataType::kBool, dims);
}

// x + bias below −lambd, x − bias above lambd, else 0.
Status ImportShrink(ImportContext& context) {
  const float bias = context.Float("bias", 0), lambd = context.Float("lambd", 0.5f), lowest = -lambd, zero = 0;
  const om::Dims dims = context.Dims(0);
  const om::DataType type = context.Input(0).type;
  const om::TensorId x = context.InputId(0);
  const om::TensorId step = context.Number(".bias", bias), none = context.Number(".zero", zero);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId below,
                             context.Emit("Less", {x, context.Number(".low", lowest)}, {}, om::DataType::kBool, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId above,
                             context.Emit("Greater", {x, context.Number(".high", lambd)}, {}, om::DataType::kBool, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId raised, context.Emit("Add", {x, step}, {}, type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId lowered, context.Emit("Sub", {x, step}, {}, type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId upper, context.Emit("Where", {above, lowered, none}, {}, type, dims));
  return context.Output("Where", {below, raised, upper}, {}, type, dims);
}

namespace {

// Bounds that are computed, or numbers that are not real: the greater of x and one, the smaller of that and the other.
Status OutputClipByBounds(ImportContext& context) {
  om::TensorId x = context.InputId(0);
  const om::DataType type = context.Input(0).type;
  for (size_t input = 1; input <= 2; ++input) {
    if (!context.HasInput(input)) continue;
    if (om::ElementCount(context.Dims(input)) != 1 || context.Input(input).type != type)
      return context.Error(fmt::format("input {} is not a single number of type {}", input, om::ToString(type)));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId bound, EmitReshape(context, context.InputId(input), {}));
    NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit(input == 1 ? "Max" : "Min", {x, bound}, {}, type, context.Dims(0)));
  }
  return x == context.InputId(0) ? ImportIdentity(context) : context.Bind(0, x);
}

bool HasConstantBounds(const ImportContext& context) {
  return context.opset() < 11 || ((!context.HasInput(1) || context.Input(1).is_constant()) &&
                                  (!context.HasInput(2) || context.Input(2).is_constant()));
}

}  // namespace

Status ImportClip(ImportContext& context) {
  if (context.Input(0).type != om::DataType::kFloat32 || !HasConstantBounds(context))
    return OutputClipByBounds(context);
  om::Attributes attributes;
  const auto bound = [&](size_t input, const char* name) -> Status {
    if (context.opset() < 11) {
      if (context.HasAttribute(name)) attributes[name] = context.Float(name, 0);
      return {};
    }
    if (!context.HasInput(input)) return {};
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> values, context.ConstantFloats(input, name));
    if (values.size() != 1) return context.Error(fmt::format("{} is not a single number", name));
    attributes[name] = values[0];
    return {};
  };
  NPUSTREAM_RETURN_IF_ERROR(bound(1, "min"));
  NPUSTREAM_RETURN_IF_ERROR(bound(2, "max"));
  // The widest numbers stand for "no bound".
  const auto min = attributes.find("min"), max = attributes.find("max");
  if (min != attributes.end() && std::get<float>(min->second) <= std::numeric_limits<float>::lowest()) {
    attributes.erase("min");
  }
  if (max != attributes.end() && std::get<float>(max->second) >= std::numeric_limits<float>::max()) {
    attributes.erase("max");
  }
  return context.Output("Clip", {context.InputId(0)}, std::move(attributes), context.Dims(0));
}

}  // namespace npustream::compiler
