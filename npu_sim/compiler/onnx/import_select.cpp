// Operators that pick by value or place: RoiAlign, TopK, NonMaxSuppression, GridSample.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

// The one value of an input that must be constant; `otherwise` when it is left out.
Result<int64_t> ScalarInt(const ImportContext& context, size_t input, const char* what, int64_t otherwise) {
  if (!context.HasInput(input)) return otherwise;
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> values, context.ConstantInts(input, what));
  if (values.size() != 1) return context.Error(fmt::format("{} has {} values", what, values.size()));
  return values[0];
}

Result<float> ScalarFloat(const ImportContext& context, size_t input, const char* what, float otherwise) {
  if (!context.HasInput(input)) return otherwise;
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> values, context.ConstantFloats(input, what));
  if (values.size() != 1) return context.Error(fmt::format("{} has {} values", what, values.size()));
  return values[0];
}

}  // namespace

// Opset 16 moved the regions by half a pixel unless it is told not to.
Status ImportRoiAlign(ImportContext& context) {
  const om::Dims &x = context.Dims(0), &rois = context.Dims(1);
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || context.Dims(2) != om::Dims{rois[0]}) {
    return context.Error(fmt::format("regions [{}] do not fit [{}]", fmt::join(rois, ","), fmt::join(x, ",")));
  }
  const int64_t height = context.Int("output_height", 1), width = context.Int("output_width", 1);
  if (height < 1 || width < 1) return context.Error(fmt::format("a result of {} x {} is out of range", height, width));
  const om::Attributes attributes = {
      {"mode", context.String("mode", "avg")},
      {"sampling_ratio", context.Int("sampling_ratio", 0)},
      {"spatial_scale", context.Float("spatial_scale", 1)},
      {"coordinate_transformation_mode",
       context.opset() < 16 ? "output_half_pixel" : context.String("coordinate_transformation_mode", "half_pixel")}};
  return context.Output("RoiAlign", {context.InputId(0), context.InputId(1), context.InputId(2)}, attributes,
                        {rois[0], x[1], height, width});
}

// k was an attribute before opset 10.
Status ImportTopK(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), context.Rank(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t k, ScalarInt(context, 1, "k", context.Int("k", -1)));
  om::Dims dims = context.Dims(0);
  int64_t& extent = dims[static_cast<size_t>(axis)];
  if (k < 0 || k > extent) return context.Error(fmt::format("k is {} of {} values", k, extent));
  extent = k;
  return context.OutputMany(
      "TopK", {context.InputId(0)}, {{"axis", axis}, {"largest", context.Int("largest", 1)}},
      {{"", context.Input(0).type, dims, nullptr}, {"", om::DataType::kInt64, dims, nullptr}});
}

// How many boxes are selected is known after a run only; the result has room for all that may be, and its rows that are
// left over hold −1.
Status ImportNonMaxSuppression(ImportContext& context) {
  const om::Dims &boxes = context.Dims(0), &scores = context.Dims(1);
  if (boxes.size() != 3 || boxes[2] != 4 || scores.size() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1]) {
    return context.Error(
        fmt::format("boxes [{}] and scores [{}] do not fit", fmt::join(boxes, ","), fmt::join(scores, ",")));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t given, ScalarInt(context, 2, "max_output_boxes_per_class", 0));
  NPUSTREAM_ASSIGN_OR_RETURN(const float overlap, ScalarFloat(context, 3, "iou_threshold", 0));
  if (given < 0) return context.Error(fmt::format("max_output_boxes_per_class is {}", given));
  const int64_t most = std::min(given, boxes[1]);
  om::Attributes attributes = {{"max_output_boxes_per_class", most},
                               {"iou_threshold", overlap},
                               {"center_point_box", context.Int("center_point_box", 0)}};
  if (context.HasInput(4)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const float score, ScalarFloat(context, 4, "score_threshold", 0));
    attributes["score_threshold"] = score;
  }
  return context.Output("NonMaxSuppression", {context.InputId(0), context.InputId(1)}, std::move(attributes),
                        om::DataType::kInt64, {boxes[0] * scores[1] * most, 3});
}

// Opset 20 renamed the modes.
Status ImportGridSample(ImportContext& context) {
  const om::Dims &x = context.Dims(0), &grid = context.Dims(1);
  if (x.size() != 4) return context.Unsupported(fmt::format("an input of {} dimensions is not supported", x.size()));
  if (grid.size() != 4 || grid[0] != x[0] || grid[3] != 2) {
    return context.Error(
        fmt::format("a grid [{}] does not fit [{}]", fmt::join(grid, ","), fmt::join(x, ",")));
  }
  std::string mode = context.String("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const om::Attributes attributes = {{"mode", mode},
                                     {"padding_mode", context.String("padding_mode", "zeros")},
                                     {"align_corners", context.Int("align_corners", 0)}};
  return context.Output("GridSample", {context.InputId(0), context.InputId(1)}, attributes,
                        {x[0], x[1], grid[1], grid[2]});
}

}  // namespace npustream::compiler
