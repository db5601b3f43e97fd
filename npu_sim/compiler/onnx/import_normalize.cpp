#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
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

// (x − mean) / sqrt(variance + epsilon), with the parts that went into it.
struct Standardised {
  om::TensorId result, mean, variance, deviation;
};

// Over `axes` of the tensor `x`.
Result<Standardised> EmitStandardised(ImportContext& context, om::TensorId x, const std::vector<int64_t>& axes,
                                      float epsilon) {
  const om::DataType type = context.Tensor(x).type;
  const om::Dims dims = context.Tensor(x).dims;
  om::Dims reduced = dims;
  for (const int64_t axis : axes) reduced[static_cast<size_t>(axis)] = 1;
  const om::Attributes over = {{"axes", axes}, {"keepdims", int64_t{1}}};
  const om::TensorId tiny = context.Number(".epsilon", epsilon);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId mean, context.Emit("ReduceMean", {x}, over, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId centred, context.Emit("Sub", {x, mean}, {}, type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId square, context.Emit("Mul", {centred, centred}, {}, type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId variance, context.Emit("ReduceMean", {square}, over, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId safe, context.Emit("Add", {variance, tiny}, {}, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId deviation, context.Emit("Sqrt", {safe}, {}, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, context.Emit("Div", {centred, deviation}, {}, type, dims));
  return Standardised{result, mean, variance, deviation};
}

Result<Standardised> EmitStandardised(ImportContext& context, om::TensorId x, const std::vector<int64_t>& axes) {
  return EmitStandardised(context, x, axes, context.Float("epsilon", 1e-5f));
}

// A vector of one value per channel as [C,1,…,1], which broadcasts over `rank` dimensions.
Result<om::TensorId> EmitPerChannel(ImportContext& context, size_t input, size_t rank) {
  om::Dims dims(rank - 1, 1);
  dims[0] = context.Dims(input)[0];
  return context.Emit("Reshape", {context.InputId(input)}, {}, context.Input(input).type, std::move(dims));
}

std::vector<int64_t> AxesFrom(int64_t first, size_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = first; axis < static_cast<int64_t>(rank); ++axis) axes.push_back(axis);
  return axes;
}

// x · scale + bias with one value per channel.
Result<om::TensorId> EmitScaledPerChannel(ImportContext& context, om::TensorId x) {
  const om::Dims dims = context.Tensor(x).dims;
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scale, EmitPerChannel(context, 1, dims.size()));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId bias, EmitPerChannel(context, 2, dims.size()));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled, context.Emit("Mul", {x, scale}, {}, type, dims));
  return context.Emit("Add", {scaled, bias}, {}, type, dims);
}

Status OutputScaledPerChannel(ImportContext& context, om::TensorId x) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y, EmitScaledPerChannel(context, x));
  return context.Bind(0, y);
}

// Statistics of the input itself, and what they make of the running ones: running · momentum + own · (1 − momentum).
Status ImportTraining(ImportContext& context) {
  NPUSTREAM_RETURN_IF_ERROR(CheckChannelVectors(context, 4));
  std::vector<int64_t> axes = AxesFrom(2, context.Dims(0).size());
  axes.insert(axes.begin(), 0);
  NPUSTREAM_ASSIGN_OR_RETURN(const Standardised normal, EmitStandardised(context, context.InputId(0), axes));
  const float momentum = context.Float("momentum", 0.9f), rest = 1 - momentum;
  const om::TensorId keep = context.Number(".momentum", momentum), take = context.Number(".rest", rest);
  const om::Dims channels = context.Dims(3);
  constexpr om::DataType kReal = om::DataType::kFloat32;
  const om::TensorId own[] = {normal.mean, normal.variance};
  for (size_t i = 0; i < 2; ++i) {
    if (!context.WantsOutput(i + 1)) continue;
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId flat, context.Emit("Reshape", {own[i]}, {}, kReal, channels));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId added, context.Emit("Mul", {flat, take}, {}, kReal, channels));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId kept,
                               context.Emit("Mul", {context.InputId(i + 3), keep}, {}, kReal, channels));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId running, context.Emit("Add", {kept, added}, {}, kReal, channels));
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(i + 1, running));
  }
  return OutputScaledPerChannel(context, normal.result);
}

}  // namespace

Status ImportBatchNormalization(ImportContext& context) {
  const bool trains = context.opset() >= 14 && context.Int("training_mode", 0) != 0;
  if (trains) return ImportTraining(context);
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
  NPUSTREAM_ASSIGN_OR_RETURN(const Standardised normal,
                             EmitStandardised(context, context.InputId(0), AxesFrom(2, context.Dims(0).size())));
  return OutputScaledPerChannel(context, normal.result);
}

// Each group of channels is standardised, then every channel is scaled and shifted.
Status ImportGroupNormalization(ImportContext& context) {
  const om::Dims& x = context.Dims(0);
  const int64_t groups = context.Int("num_groups", 0);
  if (x.size() < 3 || x[0] < 1 || groups < 1 || x[1] % groups != 0) {
    return context.Error(fmt::format("{} groups do not divide the input [{}]", groups, fmt::join(x, ",")));
  }
  // Opset 18 gave scale and bias per group, 21 gives them per channel.
  const om::Dims scales = {context.opset() < 21 ? groups : x[1]};
  if (context.Dims(1) != scales || context.Dims(2) != scales)
    return context.Error(fmt::format("its scale and bias do not have {} values", scales[0]));
  const om::DataType type = context.Input(0).type;
  const om::Dims flat = {x[0], groups, om::ElementCount(x) / (x[0] * groups)}, full = x;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId grouped, context.Emit("Reshape", {context.InputId(0)}, {}, type, flat));
  NPUSTREAM_ASSIGN_OR_RETURN(const Standardised normal, EmitStandardised(context, grouped, {2}));
  if (context.opset() < 21) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled, EmitScaledPerChannel(context, normal.result));
    return context.Output("Reshape", {scaled}, {}, full);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId restored, context.Emit("Reshape", {normal.result}, {}, type, full));
  return OutputScaledPerChannel(context, restored);
}

Status ImportLayerNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), context.Rank(0)));
  const om::Dims dims = context.Dims(0);
  const om::DataType type = context.Input(0).type;
  for (size_t i = 1; i < context.InputCount(); ++i) {
    if (context.HasInput(i) && BroadcastDims(dims, context.Dims(i)) != dims) {
      return context.Error(fmt::format("input {} of shape [{}] does not fit [{}]", i, fmt::join(context.Dims(i), ","),
                                       fmt::join(dims, ",")));
    }
  }
  const om::Dims row(dims.begin() + axis, dims.end());
  const bool whole_rows = context.Dims(1) == row && (!context.HasInput(2) || context.Dims(2) == row);
  if (whole_rows && type == om::DataType::kFloat32 && !context.WantsOutput(1) && !context.WantsOutput(2)) {
    std::vector<om::TensorId> inputs = {context.InputId(0), context.InputId(1)};
    if (context.HasInput(2)) inputs.push_back(context.InputId(2));
    const om::Attributes attributes = {{"axis", axis}, {"epsilon", context.Float("epsilon", 1e-5f)}};
    return context.Output("LayerNormalization", std::move(inputs), attributes, dims);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const Standardised normal,
                             EmitStandardised(context, context.InputId(0), AxesFrom(axis, dims.size())));
  if (context.WantsOutput(1)) NPUSTREAM_RETURN_IF_ERROR(context.Bind(1, normal.mean));
  if (context.WantsOutput(2)) {
    NPUSTREAM_ASSIGN_OR_RETURN(
        const om::TensorId inverse,
        context.Emit("Reciprocal", {normal.deviation}, {}, type, context.Tensor(normal.deviation).dims));
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(2, inverse));
  }
  if (!context.HasInput(2)) return context.Output("Mul", {normal.result, context.InputId(1)}, {}, dims);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled,
                             context.Emit("Mul", {normal.result, context.InputId(1)}, {}, type, dims));
  return context.Output("Add", {scaled, context.InputId(2)}, {}, dims);
}

// (x − mean) / (deviation + 1e-9): what the tiny number does, its square beside the variance does too.
Status ImportMeanVarianceNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                             NormaliseAxes(context, context.Ints("axes", {0, 2, 3}), context.Rank(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const Standardised normal, EmitStandardised(context, context.InputId(0), axes, 1e-18f));
  return context.Bind(0, normal.result);
}

// x / sqrt(mean of squares + epsilon) · scale, over the axes from `axis` on.
Status ImportRmsNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), context.Rank(0)));
  const om::TensorId x = context.InputId(0);
  const om::Dims dims = context.Dims(0);
  if (BroadcastDims(dims, context.Dims(1)) != dims)
    return context.Error(
        fmt::format("a scale of shape [{}] does not fit [{}]", fmt::join(context.Dims(1), ","), fmt::join(dims, ",")));
  const om::DataType type = context.Input(0).type;
  om::Dims reduced = dims;
  std::fill(reduced.begin() + axis, reduced.end(), 1);
  const om::Attributes over = {{"axes", AxesFrom(axis, dims.size())}, {"keepdims", int64_t{1}}};
  const float epsilon = context.Float("epsilon", 1e-5f);
  const om::TensorId tiny = context.Number(".epsilon", epsilon);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId square, context.Emit("Mul", {x, x}, {}, type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId mean, context.Emit("ReduceMean", {square}, over, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId safe, context.Emit("Add", {mean, tiny}, {}, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId root, context.Emit("Sqrt", {safe}, {}, type, reduced));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId normal, context.Emit("Div", {x, root}, {}, type, dims));
  return context.Output("Mul", {normal, context.InputId(1)}, {}, dims);
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

// x / (bias + alpha · mean of squares over `size` channels)^beta. The mean is an average pool over the channels, laid
// out as the height of a picture; places beyond the ends count as zeros.
Status ImportLrn(ImportContext& context) {
  const om::Dims x = context.Dims(0);
  const int64_t size = context.Int("size", 0);
  if (size < 1 || size > 65536 || x.size() < 3 || x[0] < 1 || x[1] < 1) {
    return context.Error("its size or its input's shape is out of range");
  }
  const om::DataType type = context.Input(0).type;
  const om::Dims columns = {x[0], 1, x[1], om::ElementCount(x) / (x[0] * x[1])};
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  const om::Attributes window = {{"kernel_shape", std::vector<int64_t>{size, 1}},
                                 {"strides", std::vector<int64_t>{1, 1}},
                                 {"dilations", std::vector<int64_t>{1, 1}},
                                 {"pads", std::vector<int64_t>{before, 0, after, 0}},
                                 {"count_include_pad", int64_t{1}}};
  const om::TensorId input = context.InputId(0);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId square, context.Emit("Mul", {input, input}, {}, type, x));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId laid_out, context.Emit("Reshape", {square}, {}, type, columns));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId mean, context.Emit("AveragePool", {laid_out}, window, type, columns));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId restored, context.Emit("Reshape", {mean}, {}, type, x));
  const om::TensorId alpha = context.Number(".alpha", context.Float("alpha", 1e-4f));
  const om::TensorId bias = context.Number(".bias", context.Float("bias", 1.0f));
  const om::TensorId beta = context.Number(".beta", context.Float("beta", 0.75f));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled, context.Emit("Mul", {restored, alpha}, {}, type, x));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId shifted, context.Emit("Add", {scaled, bias}, {}, type, x));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId power, context.Emit("Pow", {shifted, beta}, {}, type, x));
  return context.Output("Div", {input, power}, {}, x);
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
