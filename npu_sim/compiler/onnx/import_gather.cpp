#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
