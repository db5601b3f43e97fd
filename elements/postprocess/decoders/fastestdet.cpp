// FastestDet: one output [1, 5 + C, H, W] of objectness, four box values and class scores per cell (gx, gy).
// Confidence = objectness^0.6 · class^0.4; centre = (tanh(t) + g) / W or H, size = sigmoid(t), both of the whole input.
// A cell is of `strides` pixels, one number, by default 16.
// Source: the description of the head in dog-qiuqiu/FastestDet.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

constexpr float kObjectnessPower = 0.6f;
constexpr float kClassPower = 0.4f;

class FastestDetDecoder : public BoxDecoder {
 public:
  FastestDetDecoder(int64_t width, int64_t height, int64_t classes, int input_width, int input_height)
      : width_(width), height_(height), classes_(classes), input_width_(input_width), input_height_(input_height) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    const float* planes = tensors[0];
    const int64_t cells = width_ * height_;
    std::vector<float> best(cells);
    GreatestPerCell(planes + 5 * cells, classes_, cells, cells, best.data());
    for (int64_t cell = 0; cell < cells; ++cell) {
      // The confidence is a weighted geometric mean, so it is at most the greater of the two; that spares most powers.
      if (!(planes[cell] > 0) || !(best[cell] > 0) || std::max(planes[cell], best[cell]) < threshold) continue;
      const float confidence = std::pow(planes[cell], kObjectnessPower) * std::pow(best[cell], kClassPower);
      if (!(confidence >= threshold)) continue;
      AppendCandidate(BoxOf(planes + cell, cells, cell), confidence,
                      ClassWithScore(planes + cell + 5 * cells, classes_, cells, best[cell]), threshold, candidates);
    }
  }

 private:
  Box BoxOf(const float* values, int64_t step, int64_t cell) const {
    const float x = (std::tanh(values[step]) + static_cast<float>(cell % width_)) / static_cast<float>(width_);
    const float y = (std::tanh(values[2 * step]) + static_cast<float>(cell / width_)) / static_cast<float>(height_);
    return BoxAround(x * input_width_, y * input_height_, Sigmoid(values[3 * step]) * input_width_,
                     Sigmoid(values[4 * step]) * input_height_);
  }

  const int64_t width_, height_;
  const int64_t classes_;
  const float input_width_, input_height_;
};

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateFastestDetDecoder(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<GridLevel> levels, GridLevels(inputs, {16}));
  const GridLevel& grid = levels[0];
  const std::vector<int64_t> none;
  const std::vector<int64_t>& dims = inputs.outputs.size() == 1 ? inputs.outputs[0].dims : none;
  if (levels.size() != 1 || dims.size() != 4 || dims[1] < 6 || dims[2] != grid.height || dims[3] != grid.width) {
    return DoesNotFit(inputs, fmt::format("one output [1, 5 + classes, {}, {}]", grid.height, grid.width));
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, dims[1] - 5));
  return std::unique_ptr<BoxDecoder>(
      std::make_unique<FastestDetDecoder>(dims[3], dims[2], dims[1] - 5, inputs.input_width, inputs.input_height));
}

}  // namespace npustream::elements
