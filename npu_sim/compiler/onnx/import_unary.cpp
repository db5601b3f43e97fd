#include <fmt/format.h>

#include <limits>
#include <map>

#include "npu_sim/compiler/ir/constants.h"
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
  const om::TensorId scale = context.Constant(MakeFloats(context.node().name + ".gamma", {1}, {&gamma, 1}));
  return context.Output("Mul", {elu, scale}, {}, context.Dims(0));
}

// max(0, x) + min(0, alpha · (exp(x / alpha) − 1)) is alpha · Elu(x / alpha).
Status ImportCelu(ImportContext& context) {
  const float alpha = context.Float("alpha", 1.0f);
  if (!(alpha != 0)) return context.Error("alpha is 0");
  const float inverse = 1.0f / alpha;
  const om::DataType type = context.Input(0).type;
  const om::TensorId shrink = context.Constant(MakeFloats(context.node().name + ".shrink", {1}, {&inverse, 1}));
  const om::TensorId grow = context.Constant(MakeFloats(context.node().name + ".grow", {1}, {&alpha, 1}));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled,
                             context.Emit("Mul", {context.InputId(0), shrink}, {}, type, context.Dims(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId elu,
                             context.Emit("Elu", {scaled}, {{"alpha", 1.0f}}, type, context.Dims(0)));
  return context.Output("Mul", {elu, grow}, {}, context.Dims(0));
}

// x where it is above alpha, else 0.
Status ImportThresholdedRelu(ImportContext& context) {
  const float alpha = context.Float("alpha", 1.0f), zero = 0;
  const om::TensorId threshold = context.Constant(MakeFloats(context.node().name + ".alpha", {1}, {&alpha, 1}));
  const om::TensorId otherwise = context.Constant(MakeFloats(context.node().name + ".zero", {1}, {&zero, 1}));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId above, context.Emit("Greater", {context.InputId(0), threshold}, {},
                                                                    om::DataType::kBool, context.Dims(0)));
  return context.Output("Where", {above, context.InputId(0), otherwise}, {}, context.Dims(0));
}

namespace {

// A bound that is no constant is applied as an operator of its own.
Status ClipByComputed(ImportContext& context) {
  om::TensorId x = context.InputId(0);
  const om::DataType type = context.Input(0).type;
  for (const auto& [input, op] : {std::pair<size_t, const char*>{1, "Max"}, {2, "Min"}}) {
    if (!context.HasInput(input)) continue;
    if (om::ElementCount(context.Dims(input)) != 1) return context.Error("a bound is not a single number");
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId bound,
                               context.Emit("Reshape", {context.InputId(input)}, {}, type, om::Dims{}));
    NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit(op, {x, bound}, {}, type, context.Dims(0)));
  }
  return context.Bind(0, x);
}

}  // namespace

Status ImportClip(ImportContext& context) {
  const auto is_computed = [&](size_t input) { return context.HasInput(input) && !context.Input(input).is_constant(); };
  if (context.opset() >= 11 && (is_computed(1) || is_computed(2))) return ClipByComputed(context);
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
