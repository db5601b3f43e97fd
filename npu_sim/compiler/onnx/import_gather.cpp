#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
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

Status ImportGatherElements(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
  NPUSTREAM_RETURN_IF_ERROR(CheckIndices(context, 1, context.Dims(0)[static_cast<size_t>(axis)]));
  return context.Output("GatherElements", {context.InputId(0), context.InputId(1)}, {{"axis", axis}}, context.Dims(1));
}

Status ImportGatherNd(ImportContext& context) {
  const om::Dims &x = context.Dims(0), &indices = context.Dims(1);
  const int64_t batch = context.Int("batch_dims", 0);
  const auto rank = static_cast<int64_t>(x.size()), index_rank = static_cast<int64_t>(indices.size());
  const bool fits = batch >= 0 && batch < std::min(rank, index_rank) && indices.back() >= 1 &&
                    batch + indices.back() <= rank;
  if (!fits) {
    return context.Error(
        fmt::format("indices [{}] do not fit [{}]", fmt::join(indices, ","), fmt::join(x, ",")));
  }
  om::Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), x.begin() + batch + indices.back(), x.end());
  return context.Output("GatherND", {context.InputId(0), context.InputId(1)}, {{"batch_dims", batch}}, std::move(dims));
}

// What a constant condition lets through are places that are known.
Status ImportCompress(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> condition, context.ConstantInts(1, "the condition"));
  om::TensorId x = context.InputId(0);
  int64_t axis = 0;
  if (context.HasAttribute("axis")) {
    NPUSTREAM_ASSIGN_OR_RETURN(axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
  } else {
    NPUSTREAM_ASSIGN_OR_RETURN(x, EmitReshape(context, x, {om::ElementCount(context.Dims(0))}));
  }
  om::Dims dims = context.Tensor(x).dims;
  int64_t& extent = dims[static_cast<size_t>(axis)];
  std::vector<int64_t> places;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  if (!places.empty() && places.back() >= extent)
    return context.Error(fmt::format("its condition has {} values for {} places", condition.size(), extent));
  extent = static_cast<int64_t>(places.size());
  const om::TensorId indices = context.Constant(MakeInts(context.node().name + ".places", {extent}, places));
  return context.Output("Gather", {x, indices}, {{"axis", axis}}, context.Input(0).type, std::move(dims));
}

// The first of each sequence's steps change places, the others stay: rows of a matrix of sequences and steps.
Status ImportReverseSequence(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, context.ConstantInts(1, "sequence_lens"));
  const int64_t batch_axis = context.Int("batch_axis", 1), time_axis = context.Int("time_axis", 0);
  const om::Dims x = context.Dims(0);
  if (x.size() < 2 || batch_axis < 0 || batch_axis > 1 || time_axis != 1 - batch_axis)
    return context.Error(fmt::format("axes {} and {} of {} dimensions", batch_axis, time_axis, x.size()));
  const int64_t batch = x[static_cast<size_t>(batch_axis)], steps = x[static_cast<size_t>(time_axis)];
  if (static_cast<int64_t>(lengths.size()) != batch) return context.Error("there is not one length per sequence");
  constexpr int64_t kMostRows = 1 << 24;
  if (steps > kMostRows / std::max<int64_t>(1, batch))
    return context.Unsupported(fmt::format("{} sequences of {} steps are too long", batch, steps));
  std::vector<int64_t> rows(static_cast<size_t>(batch * steps));
  const int64_t batch_stride = batch_axis == 0 ? steps : 1, step_stride = batch_axis == 0 ? 1 : batch;
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t length = lengths[static_cast<size_t>(n)];
    if (length < 0 || length > steps) return context.Error(fmt::format("a length of {} of {} steps", length, steps));
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t from = t < length ? length - 1 - t : t;
      rows[static_cast<size_t>(n * batch_stride + t * step_stride)] = n * batch_stride + from * step_stride;
    }
  }
  om::Dims flat(x.begin() + 1, x.end());
  flat[0] = batch * steps;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId matrix, EmitReshape(context, context.InputId(0), flat));
  const om::TensorId order = context.Constant(MakeInts(context.node().name + ".order", {flat[0]}, rows));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId moved, context.Emit("Gather", {matrix, order}, {{"axis", int64_t{0}}},
                                                                    context.Input(0).type, flat));
  return context.Output("Reshape", {moved}, {}, x);
}

Status ImportScatter(ImportContext& context) {
  om::Attributes attributes = {{"reduction", context.String("reduction", "none")}};
  if (context.node().op != "ScatterND") {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
    NPUSTREAM_RETURN_IF_ERROR(CheckIndices(context, 1, context.Dims(0)[static_cast<size_t>(axis)]));
    attributes["axis"] = axis;
  }
  // Scatter is the name of ScatterElements before opset 11.
  const std::string op = context.node().op == "ScatterND" ? "ScatterND" : "ScatterElements";
  return context.Output(op, {context.InputId(0), context.InputId(1), context.InputId(2)}, std::move(attributes),
                        context.Dims(0));
}

}  // namespace npustream::compiler
