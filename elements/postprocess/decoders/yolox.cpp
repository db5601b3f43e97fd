// YOLOX without its decoding layer: one output [1, N, 5 + C] of dx, dy, log w, log h, objectness, class scores per
// cell, the levels of `strides` (default 8, 16, 32) one after the other. With cell (gx, gy): centre = (d + g) · stride,
// size = exp(log size) · stride, confidence = objectness · class. Source: Ge et al., "YOLOX", arXiv 2107.08430, and
// its ONNX demo.
#include <cmath>

#include <fmt/format.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

class YoloxDecoder : public BoxDecoder {
 public:
  YoloxDecoder(std::vector<GridLevel> levels, int64_t classes) : levels_(std::move(levels)), classes_(classes) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    const float* cell = tensors[0];
    for (const GridLevel& level : levels_) {
      for (int y = 0; y < level.height; ++y) {
        for (int x = 0; x < level.width; ++x, cell += 5 + classes_) {
          // Class scores are at most 1: most cells end here.
          if (cell[4] >= threshold) DecodeCell(cell, level.stride, x, y, threshold, candidates);
        }
      }
    }
  }

 private:
  void DecodeCell(const float* cell, int stride, int x, int y, float threshold,
                  std::vector<Detection>& candidates) const {
    if (!(cell[4] * GreatestScore(cell + 5, classes_) >= threshold)) return;
    const BestClass best = FindBestClass(cell + 5, classes_);
    const Box box = BoxAround((cell[0] + x) * stride, (cell[1] + y) * stride, std::exp(cell[2]) * stride,
                              std::exp(cell[3]) * stride);
    AppendCandidate(box, cell[4] * best.score, best.label_id, threshold, candidates);
  }

  const std::vector<GridLevel> levels_;
  const int64_t classes_;
};

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateYoloxDecoder(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<GridLevel> levels, GridLevels(inputs, {8, 16, 32}));
  const int64_t cells = CellCount(levels);
  if (inputs.outputs.size() != 1 || inputs.outputs[0].dims.size() != 3 || inputs.outputs[0].dims[1] != cells ||
      inputs.outputs[0].dims[2] < 6) {
    return DoesNotFit(inputs, fmt::format("one output [1, {}, 5 + classes]", cells));
  }
  const int64_t classes = inputs.outputs[0].dims[2] - 5;
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, classes));
  return std::unique_ptr<BoxDecoder>(std::make_unique<YoloxDecoder>(std::move(levels), classes));
}

}  // namespace npustream::elements
