// YOLOv5 (and v7 or YOLOX with its decoding layer) in two forms, told apart by shape:
// * decoded: [1, N, 5 + C] of centre x, centre y, width, height in pixels of the input, objectness, class scores; N is
//   the number of cells of `strides` (default 8, 16, 32, or these with 64 or 4), or three times that;
// * raw heads, one per stride: [1, A, H, W, 5 + C] or [1, A·(5 + C), H, W] of logits. With s = sigmoid, cell (gx, gy):
//   centre = (2 s(t) − 0.5 + g) · stride, size = (2 s(t))² · anchor. `strides` (default 8, 16, 32) and `anchors` (A
//   pairs of width, height in pixels per stride; default the COCO anchors of YOLOv5).
// Confidence = objectness · class. Source: the Detect layer of ultralytics/yolov5, described in its documentation.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

constexpr int64_t kUsualAnchors = 3;  // boxes per cell

class DecodedYoloV5 : public BoxDecoder {
 public:
  DecodedYoloV5(size_t output, int64_t rows, int64_t classes) : output_(output), rows_(rows), classes_(classes) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    const float* row = tensors[output_];
    for (int64_t i = 0; i < rows_; ++i, row += 5 + classes_) {
      if (!(row[4] >= threshold) || !(row[4] * GreatestScore(row + 5, classes_) >= threshold)) continue;
      const BestClass best = FindBestClass(row + 5, classes_);
      AppendCandidate(BoxAround(row[0], row[1], row[2], row[3]), row[4] * best.score, best.label_id, threshold,
                      candidates);
    }
  }

 private:
  const size_t output_;
  const int64_t rows_;
  const int64_t classes_;
};

struct RawHead {
  size_t output = 0;
  GridLevel grid;
  std::vector<double> anchors;  // width, height, width, …
  bool channels_first = false;  // [1, A·(5+C), H, W], else [1, A, H, W, 5+C]
};

class RawYoloV5 : public BoxDecoder {
 public:
  RawYoloV5(std::vector<RawHead> heads, int64_t classes) : heads_(std::move(heads)), classes_(classes) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    for (const RawHead& head : heads_) DecodeHead(head, tensors[head.output], threshold, candidates);
  }

 private:
  void DecodeHead(const RawHead& head, const float* tensor, float threshold, std::vector<Detection>& candidates) const {
    const float least_logit = Logit(threshold);
    const int64_t cells = head.grid.cells(), channels = 5 + classes_;
    // The values of one anchor box lie `step` apart, neighbouring cells `next` apart.
    const int64_t step = head.channels_first ? cells : 1, next = head.channels_first ? 1 : channels;
    std::vector<float> values(channels);
    for (size_t anchor = 0; anchor * 2 < head.anchors.size(); ++anchor) {
      const float* first = tensor + static_cast<int64_t>(anchor) * channels * cells;
      for (int64_t cell = 0; cell < cells; ++cell) {
        const float* value = first + cell * next;
        if (!(value[4 * step] >= least_logit)) continue;
        for (int64_t c = 0; c < channels; ++c) values[c] = value[c * step];
        DecodeCell(head, anchor, cell, values.data(), threshold, candidates);
      }
    }
  }

  void DecodeCell(const RawHead& head, size_t anchor, int64_t cell, const float* values, float threshold,
                  std::vector<Detection>& candidates) const {
    const BestClass best = FindBestClass(values + 5, classes_);
    const float confidence = Sigmoid(values[4]) * Sigmoid(best.score);
    if (!(confidence >= threshold)) return;
    const float x = static_cast<float>(cell % head.grid.width), y = static_cast<float>(cell / head.grid.width);
    const float w = 2 * Sigmoid(values[2]), h = 2 * Sigmoid(values[3]);
    const Box box = BoxAround(
        (2 * Sigmoid(values[0]) - 0.5f + x) * head.grid.stride, (2 * Sigmoid(values[1]) - 0.5f + y) * head.grid.stride,
        w * w * static_cast<float>(head.anchors[2 * anchor]), h * h * static_cast<float>(head.anchors[2 * anchor + 1]));
    AppendCandidate(box, confidence, best.label_id, threshold, candidates);
  }

  const std::vector<RawHead> heads_;
  const int64_t classes_;
};

// The raw head of `grid` among the outputs; sets `classes`.
Result<RawHead> FindHead(const DecoderInputs& inputs, const GridLevel& grid, std::vector<double> anchors,
                         int64_t& classes) {
  const auto count = static_cast<int64_t>(anchors.size() / 2);
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    const std::vector<int64_t>& dims = inputs.outputs[i].dims;
    const bool last = dims.size() == 5 && dims[1] == count && dims[2] == grid.height && dims[3] == grid.width;
    const bool first = dims.size() == 4 && dims[1] % count == 0 && dims[2] == grid.height && dims[3] == grid.width;
    if (!last && !first) continue;
    classes = (last ? dims[4] : dims[1] / count) - 5;
    if (classes < 1) continue;
    return RawHead{i, grid, std::move(anchors), first};
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> cells, UsualCellCounts(inputs));
  return DoesNotFit(inputs,
                    fmt::format("an output [1, N, 5 + classes] with N = {} or {} times that, or, for stride {}, "
                                "[1, {}, {}, {}, 5 + classes]",
                                fmt::join(cells, " or "), kUsualAnchors, grid.stride, count, grid.height, grid.width));
}

Result<std::unique_ptr<BoxDecoder>> CreateRaw(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<GridLevel> levels, GridLevels(inputs, {8, 16, 32}));
  const std::vector<double> anchors =
      Numbers(inputs, "anchors", {10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326});
  if (anchors.empty() || anchors.size() % (2 * levels.size()) != 0) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("'anchors' has {} numbers, which are not pairs for {} strides", anchors.size(), levels.size()));
  }
  const size_t share = anchors.size() / levels.size();
  std::vector<RawHead> heads;
  int64_t classes = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    int64_t head_classes = 0;
    const auto begin = anchors.begin() + static_cast<ptrdiff_t>(i * share);
    NPUSTREAM_ASSIGN_OR_RETURN(
        RawHead head, FindHead(inputs, levels[i], {begin, begin + static_cast<ptrdiff_t>(share)}, head_classes));
    if (i > 0 && head_classes != classes) return DoesNotFit(inputs, "heads with the same classes");
    classes = head_classes;
    heads.push_back(std::move(head));
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, classes));
  return std::unique_ptr<BoxDecoder>(std::make_unique<RawYoloV5>(std::move(heads), classes));
}

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateYoloV5Decoder(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, UsualCellCounts(inputs));
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    const std::vector<int64_t>& dims = inputs.outputs[i].dims;
    const auto are_rows = [&](int64_t cells) { return dims[1] == cells || dims[1] == kUsualAnchors * cells; };
    if (dims.size() != 3 || dims[2] < 6 || std::none_of(counts.begin(), counts.end(), are_rows)) continue;
    NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, dims[2] - 5));
    return std::unique_ptr<BoxDecoder>(std::make_unique<DecodedYoloV5>(i, dims[1], dims[2] - 5));
  }
  return CreateRaw(inputs);
}

}  // namespace npustream::elements
