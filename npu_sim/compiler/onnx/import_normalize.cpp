#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

// Inputs 1 … `last` must be vectors of one value per channel.
Status CheckChannelVectors(const ImportContext& context, size_t last) {
  if (context.Rank(0) < 2) return context.Error("its input has no channels");
  for (size_t i = 1; i <= last; ++i) {
    if (context.Dims(i) == om::Dims{context.Dims(0)[1]}) continue;
    return context.Error(fmt::format("input {} of shape [{}] does not have {} values", i,
                                     fmt::join(context.Dims(i), ","), context.Dims(0)[1]));
  }
  return {};
}

}  // namespace

Status ImportBatchNormalization(ImportContext& context) {
  if (context.Int("training_mode", 0) != 0) return context.Unsupported("the model is in training mode");
  if (context.opset() < 9 && context.Int("spatial", 1) == 0) {
    return context.Unsupported("spatial = 0 is not supported");
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckChannelVectors(context, 4));
  std::vector<om::TensorId> inputs;
  for (size_t i = 0; i < 5; ++i) inputs.push_back(context.InputId(i));
  return context.Output("BatchNormalization", std::move(inputs), {{"epsilon", context.Float("epsilon", 1e-5f)}},
                        context.Dims(0));
}

Status ImportInstanceNormalization(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckChannelVectors(context, 2));
  return context.Output("InstanceNormalization", {context.InputId(0), context.InputId(1), context.InputId(2)},
                        {{"epsilon", context.Float("epsilon", 1e-5f)}}, context.Dims(0));
}

// Each group of channels is an instance of its own: reshape, normalise without scale, then scale and shift by channel.
Status ImportGroupNormalization(ImportContext& context) {
  const om::Dims& x = context.Dims(0);
  const int64_t groups = context.Int("num_groups", 0);
  if (x.size() < 3 || groups < 1 || x[1] % groups != 0) {
    return context.Error(fmt::format("{} groups do not divide the input [{}]", groups, fmt::join(x, ",")));
  }
  // Opset 18 gave scale and bias per group, 21 gives them per channel.
  if (context.Dims(1) != om::Dims{x[1]} || context.Dims(2) != om::Dims{x[1]}) {
    return context.Unsupported("scale and bias per group are not supported");
  }
  const om::DataType type = context.Input(0).type;
  const std::vector<float> ones(static_cast<size_t>(groups), 1.0f), zeros(static_cast<size_t>(groups), 0.0f);
  const om::TensorId one = context.Constant(MakeFloats(context.node().name + ".one", {groups}, ones));
  const om::TensorId zero = context.Constant(MakeFloats(context.node().name + ".zero", {groups}, zeros));
  const om::Dims flat = {x[0], groups, om::ElementCount(x) / std::max<int64_t>(1, x[0] * groups)};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId grouped, context.Emit("Reshape", {context.InputId(0)}, {}, type, flat));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId normal,
                             context.Emit("InstanceNormalization", {grouped, one, zero},
                                          {{"epsilon", context.Float("epsilon", 1e-5f)}}, type, flat));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId restored, context.Emit("Reshape", {normal}, {}, type, x));
  om::Dims per_channel(x.size() - 1, 1);
  per_channel[0] = x[1];
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scale,
                             context.Emit("Reshape", {context.InputId(1)}, {}, type, per_channel));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId bias,
                             context.Emit("Reshape", {context.InputId(2)}, {}, type, per_channel));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled, context.Emit("Mul", {restored, scale}, {}, type, x));
  return context.Output("Add", {scaled, bias}, {}, x);
}

Status ImportLayerNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), context.Rank(0)));
  const om::Dims normalised(context.Dims(0).begin() + axis, context.Dims(0).end());
  for (size_t i = 1; i < context.InputCount(); ++i) {
    if (context.HasInput(i) && context.Dims(i) != normalised) {
      return context.Unsupported(fmt::format("input {} of shape [{}] is not like the normalised axes [{}]", i,
                                             fmt::join(context.Dims(i), ","), fmt::join(normalised, ",")));
    }
  }
  std::vector<om::TensorId> inputs = {context.InputId(0), context.InputId(1)};
  if (context.HasInput(2)) inputs.push_back(context.InputId(2));
  return context.Output("LayerNormalization", std::move(inputs),
                        {{"axis", axis}, {"epsilon", context.Float("epsilon", 1e-5f)}}, context.Dims(0));
}

// x / max(norm, tiny): composed of a reduction and a division.
Status ImportLpNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), context.Rank(0)));
  const int64_t p = context.Int("p", 2);
  if (p != 1 && p != 2) return context.Unsupported(fmt::format("p = {} is not supported", p));
  om::Dims reduced = context.Dims(0);
  reduced[static_cast<size_t>(axis)] = 1;
  const om::Attributes attributes = {{"axes", std::vector<int64_t>{axis}}, {"keepdims", int64_t{1}}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId norm,
                             context.Emit(p == 1 ? "ReduceL1" : "ReduceL2", {context.InputId(0)}, attributes,
                                          context.Input(0).type, std::move(reduced)));
  return context.Output("Div", {context.InputId(0), norm}, {}, context.Dims(0));
}

Status ImportLrn(ImportContext& context) {
  const int64_t size = context.Int("size", 0);
  if (size < 1 || context.Rank(0) < 3) return context.Error("its size or its input's rank is out of range");
  return context.Output("LRN", {context.InputId(0)},
                        {{"alpha", context.Float("alpha", 1e-4f)},
                         {"beta", context.Float("beta", 0.75f)},
                         {"bias", context.Float("bias", 1.0f)},
                         {"size", size}},
                        context.Dims(0));
}

// Softmax and LogSoftmax. Before opset 13 everything from the axis on counted as one axis.
Status ImportSoftmax(ImportContext& context) {
  const std::string& op = context.node().op;
  const int64_t rank = context.Rank(0);
  if (rank == 0) return context.Error("its input is a scalar");
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis,
                             context.Axis(context.Int("axis", context.opset() < 13 ? 1 : -1), rank));
  if (context.opset() >= 13 || axis == rank - 1) {
    return context.Output(op, {context.InputId(0)}, {{"axis", axis}}, context.Dims(0));
  }
  om::Dims flat = {1, 1};
  for (int64_t i = 0; i < rank; ++i) flat[i < axis ? 0 : 1] *= context.Dims(0)[static_cast<size_t>(i)];
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId matrix, context.Emit("Reshape", {context.InputId(0)}, {}, type, flat));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, context.Emit(op, {matrix}, {{"axis", int64_t{1}}}, type, flat));
  return context.Output("Reshape", {result}, {}, context.Dims(0));
}

}  // namespace npustream::compiler
