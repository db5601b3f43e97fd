#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

struct SliceLists {
  std::vector<int64_t> starts, ends, axes, steps;
};

Result<SliceLists> ReadSliceLists(const ImportContext& context) {
  SliceLists lists;
  if (context.opset() < 10) {
    lists.starts = context.Ints("starts");
    lists.ends = context.Ints("ends");
    lists.axes = context.Ints("axes");
  } else {
    NPUSTREAM_ASSIGN_OR_RETURN(lists.starts, context.ConstantInts(1, "the list of starts"));
    NPUSTREAM_ASSIGN_OR_RETURN(lists.ends, context.ConstantInts(2, "the list of ends"));
    if (context.HasInput(3)) {
      NPUSTREAM_ASSIGN_OR_RETURN(lists.axes, context.ConstantInts(3, "the list of axes"));
    }
    if (context.HasInput(4)) {
      NPUSTREAM_ASSIGN_OR_RETURN(lists.steps, context.ConstantInts(4, "the list of steps"));
    }
  }
  const size_t count = lists.starts.size();
  if (lists.axes.empty()) {
    for (size_t i = 0; i < count; ++i) lists.axes.push_back(static_cast<int64_t>(i));
  }
  if (lists.steps.empty()) lists.steps.assign(count, 1);
  if (lists.ends.size() != count || lists.axes.size() != count || lists.steps.size() != count) {
    return context.Error("starts, ends, axes and steps have different lengths");
  }
  return lists;
}

// Clamps one slice as ONNX demands and returns its length. Afterwards 0 ≤ start, and the end of a backward slice that
// reaches the first element is −dim − 1, which any reader clamps to "before the first".
Result<int64_t> ClampSlice(const ImportContext& context, int64_t dim, int64_t& start, int64_t& end, int64_t step) {
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) return context.Error("a step is 0 or out of range");
  const auto from_front = [dim](int64_t place) { return place < 0 ? std::max(place, -dim - 1) + dim : place; };
  if (step > 0) {
    start = std::clamp<int64_t>(from_front(start), 0, dim);
    end = std::clamp<int64_t>(from_front(end), 0, dim);
    return end > start ? (end - start - 1) / step + 1 : 0;
  }
  start = std::clamp<int64_t>(from_front(start), 0, std::max<int64_t>(dim - 1, 0));
  end = std::clamp<int64_t>(from_front(end), -1, dim - 1);
  const int64_t length = start > end ? (start - end - 1) / -step + 1 : 0;
  if (end < 0) end = -dim - 1;
  return length;
}

}  // namespace

Status ImportSlice(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(SliceLists lists, ReadSliceLists(context));
  om::Dims dims = context.Dims(0);
  std::vector<bool> seen(dims.size());
  for (size_t i = 0; i < lists.axes.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(lists.axes[i], context.Axis(lists.axes[i], context.Rank(0)));
    const size_t axis = static_cast<size_t>(lists.axes[i]);
    if (seen[axis]) return context.Error("it names an axis twice");
    seen[axis] = true;
    NPUSTREAM_ASSIGN_OR_RETURN(dims[axis],
                               ClampSlice(context, dims[axis], lists.starts[i], lists.ends[i], lists.steps[i]));
  }
  const om::Attributes attributes = {
      {"starts", lists.starts}, {"ends", lists.ends}, {"axes", lists.axes}, {"steps", lists.steps}};
  return context.Output("Slice", {context.InputId(0)}, attributes, std::move(dims));
}

namespace {

Result<std::vector<int64_t>> ReadPadLists(const ImportContext& context) {
  if (context.opset() < 11) return context.Ints("pads");
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<int64_t> pads, context.ConstantInts(1, "the list of pads"));
  if (!context.HasInput(3)) return pads;
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, context.ConstantInts(3, "the list of axes"));
  if (pads.size() != 2 * axes.size()) return context.Error("there are not two pads per axis");
  std::vector<int64_t> full(2 * context.Dims(0).size());
  for (size_t i = 0; i < axes.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(axes[i], context.Rank(0)));
    full[static_cast<size_t>(axis)] = pads[i];
    full[static_cast<size_t>(axis) + context.Dims(0).size()] = pads[i + axes.size()];
  }
  return full;
}

Result<float> ReadPadValue(const ImportContext& context) {
  if (context.opset() < 11) return context.Float("value", 0);
  if (!context.HasInput(2)) return 0.0f;
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> value, context.ConstantFloats(2, "the padding's value"));
  if (value.size() != 1) return context.Error("the padding's value is not a single number");
  return value[0];
}

}  // namespace

Status ImportPad(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, ReadPadLists(context));
  NPUSTREAM_ASSIGN_OR_RETURN(const float value, ReadPadValue(context));
  const std::string mode = context.String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return context.Unsupported(fmt::format("mode '{}' is not supported", mode));
  }
  om::Dims dims = context.Dims(0);
  const size_t rank = dims.size();
  if (pads.size() != 2 * rank) return context.Error("there are not two pads per dimension");
  for (size_t i = 0; i < rank; ++i) {
    for (const int64_t pad : {pads[i], pads[i + rank]}) {
      if (pad < -dims[i] || pad > kMaxTensorBytes) return context.Error("a pad is out of range");
      if (mode == "reflect" && pad >= context.Dims(0)[i]) return context.Error("a pad is larger than what it reflects");
      if (mode == "wrap" && pad > context.Dims(0)[i]) return context.Error("a pad is larger than what it repeats");
    }
    dims[i] += pads[i] + pads[i + rank];
    if (dims[i] < 0) return context.Error("the pads cut off more than there is");
  }
  return context.Output("Pad", {context.InputId(0)}, {{"pads", pads}, {"mode", mode}, {"value", value}},
                        std::move(dims));
}

}  // namespace npustream::compiler
