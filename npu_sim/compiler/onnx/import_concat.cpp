#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {

Status ImportConcat(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 1), context.Rank(0)));
  const size_t at = static_cast<size_t>(axis);
  om::Dims dims = context.Dims(0);
  dims[at] = 0;
  std::vector<om::TensorId> inputs;
  for (size_t i = 0; i < context.InputCount(); ++i) {
    if (!context.HasInput(i)) return context.Error(fmt::format("input {} is missing", i));
    om::Dims part = context.Dims(i);
    if (part.size() != dims.size()) return context.Error("its inputs have different numbers of dimensions");
    const int64_t extent = part[at];
    part[at] = dims[at];
    if (part != dims || context.Input(i).type != context.Input(0).type) {
      return context.Error(fmt::format("input {} of shape [{}] does not fit the first one, [{}]", i,
                                       fmt::join(context.Dims(i), ","), fmt::join(context.Dims(0), ",")));
    }
    dims[at] += extent;
    inputs.push_back(context.InputId(i));
  }
  return context.Output("Concat", std::move(inputs), {{"axis", axis}}, std::move(dims));
}

namespace {

// The extents of the parts: given, or equal shares (the last may be smaller from opset 18 on).
Result<std::vector<int64_t>> SplitExtents(const ImportContext& context, int64_t extent) {
  if (context.opset() < 13 && context.HasAttribute("split")) return context.Ints("split");
  if (context.opset() >= 13 && context.HasInput(1)) return context.ConstantInts(1, "the list of parts");
  const int64_t parts = context.Int("num_outputs", static_cast<int64_t>(context.node().outputs.size()));
  if (parts < 1 || parts > extent || (extent % parts != 0 && context.opset() < 18)) {
    return context.Error(fmt::format("{} cannot be split into {} parts", extent, parts));
  }
  const int64_t share = (extent + parts - 1) / parts;
  std::vector<int64_t> extents(static_cast<size_t>(parts), share);
  extents.back() = extent - share * (parts - 1);
  return extents;
}

// A constant's parts are constants: TensorFlow takes shapes apart in this way.
Status OutputConstantParts(ImportContext& context, int64_t axis, const std::vector<om::Tensor>& parts) {
  int64_t start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t end = start + parts[i].dims[static_cast<size_t>(axis)];
    const auto list = [](int64_t value) { return std::vector<int64_t>{value}; };
    const om::Attributes attributes = {
        {"axes", list(axis)}, {"starts", list(start)}, {"ends", list(end)}, {"steps", list(1)}};
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId part,
                               context.Emit("Slice", {context.InputId(0)}, attributes, parts[i].type, parts[i].dims));
    if (context.WantsOutput(i)) NPUSTREAM_RETURN_IF_ERROR(context.Bind(i, part));
    start = end;
  }
  return {};
}

}  // namespace

Status ImportSplit(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
  const int64_t extent = context.Dims(0)[static_cast<size_t>(axis)];
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, SplitExtents(context, extent));
  std::vector<om::Tensor> results;
  int64_t left = extent;
  for (const int64_t part : extents) {
    if (part < 0 || part > left) break;
    left -= part;
    om::Tensor result{"", context.Input(0).type, context.Dims(0), nullptr};
    result.dims[static_cast<size_t>(axis)] = part;
    results.push_back(std::move(result));
  }
  if (left != 0 || results.size() != extents.size() || extents.size() < context.node().outputs.size()) {
    return context.Error(fmt::format("parts of [{}] do not add up to {}", fmt::join(extents, ","), extent));
  }
  if (context.Input(0).is_constant()) return OutputConstantParts(context, axis, results);
  return context.OutputMany("Split", {context.InputId(0)}, {{"axis", axis}, {"split", extents}}, results);
}

}  // namespace npustream::compiler
