#include <fmt/format.h>
#include <fmt/ranges.h>

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
  const om::Dims &x = context.Dims(0), &indices = context.Dims(1);
  bool fits = x.size() == indices.size();
  for (size_t i = 0; fits && i < x.size(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices[i] <= x[i];
  }
  if (!fits) {
    return context.Error(fmt::format("indices [{}] do not fit [{}]", fmt::join(indices, ","), fmt::join(x, ",")));
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckIndices(context, 1, x[static_cast<size_t>(axis)]));
  return context.Output("GatherElements", {context.InputId(0), context.InputId(1)}, {{"axis", axis}}, indices);
}

Status ImportGatherNd(ImportContext& context) {
  const int64_t batch_dims = context.Int("batch_dims", 0);
  const om::Dims &x = context.Dims(0), &indices = context.Dims(1);
  if (indices.empty() || batch_dims < 0 || batch_dims >= context.Rank(1) || indices.back() < 1 ||
      batch_dims + indices.back() > context.Rank(0)) {
    return context.Error(fmt::format("indices [{}] do not fit [{}]", fmt::join(indices, ","), fmt::join(x, ",")));
  }
  om::Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), x.begin() + batch_dims + indices.back(), x.end());
  return context.Output("GatherND", {context.InputId(0), context.InputId(1)}, {{"batch_dims", batch_dims}},
                        std::move(dims));
}

}  // namespace npustream::compiler
