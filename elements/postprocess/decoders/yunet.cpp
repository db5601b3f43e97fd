// YuNet face detector: per stride (default 8, 16, 32) class score and objectness [1, N, 1], box [1, N, 4] and five
// landmarks [1, N, 10]. Confidence = sqrt(class · objectness), each limited to 0 … 1; with cell (gx, gy): centre =
// (t + g) · stride, size = exp(t) · stride, landmark = (t + g) · stride. Source: Wu et al., "YuNet", Machine
// Intelligence Research 2023, and the description in ShiqiYu/libfacedetection.train.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

constexpr int kLandmarks = 5;

struct FaceHead {
  GridLevel grid;
  // Class score and objectness have one shape; their product does not tell them apart, nor need it.
  size_t score = 0, objectness = 0, box = 0, landmarks = 0;
};

float Limit(float value) { return std::clamp(value, 0.0f, 1.0f); }

class YuNetDecoder : public BoxDecoder {
 public:
  explicit YuNetDecoder(std::vector<FaceHead> heads) : heads_(std::move(heads)) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    const float least = threshold * threshold;
    for (const FaceHead& head : heads_) {
      for (int64_t cell = 0; cell < head.grid.cells(); ++cell) {
        const float product = Limit(tensors[head.score][cell]) * Limit(tensors[head.objectness][cell]);
        if (!(product >= least)) continue;
        DecodeCell(head, cell, tensors[head.box] + 4 * cell, tensors[head.landmarks] + 2 * kLandmarks * cell,
                   std::sqrt(product), threshold, candidates);
      }
    }
  }

 private:
  static void DecodeCell(const FaceHead& head, int64_t cell, const float* box, const float* landmarks, float confidence,
                         float threshold, std::vector<Detection>& candidates) {
    const auto stride = static_cast<float>(head.grid.stride);
    const auto x = static_cast<float>(cell % head.grid.width), y = static_cast<float>(cell / head.grid.width);
    const size_t before = candidates.size();
    AppendCandidate(
        BoxAround((box[0] + x) * stride, (box[1] + y) * stride, std::exp(box[2]) * stride, std::exp(box[3]) * stride),
        confidence, 0, threshold, candidates);
    if (candidates.size() == before) return;
    for (int i = 0; i < kLandmarks; ++i) {
      candidates.back().landmarks.push_back({(landmarks[2 * i] + x) * stride, (landmarks[2 * i + 1] + y) * stride});
    }
  }

  const std::vector<FaceHead> heads_;
};

// The four outputs with a row per cell of the level.
Result<FaceHead> FindHead(const DecoderInputs& inputs, const GridLevel& level) {
  std::vector<size_t> scores, boxes, landmarks;
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    const std::vector<int64_t>& dims = inputs.outputs[i].dims;
    if (dims.size() != 3 || dims[1] != level.cells()) continue;
    if (dims[2] == 1) scores.push_back(i);
    if (dims[2] == 4) boxes.push_back(i);
    if (dims[2] == 2 * kLandmarks) landmarks.push_back(i);
  }
  if (scores.size() != 2 || boxes.size() != 1 || landmarks.size() != 1) {
    return DoesNotFit(inputs, fmt::format("outputs [1, {0}, 1] twice, [1, {0}, 4] and [1, {0}, 10] for stride {1}",
                                          level.cells(), level.stride));
  }
  return FaceHead{level, scores[0], scores[1], boxes[0], landmarks[0]};
}

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateYuNetDecoder(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<GridLevel> levels, GridLevels(inputs, {8, 16, 32}));
  std::vector<FaceHead> heads;
  for (const GridLevel& level : levels) {
    NPUSTREAM_ASSIGN_OR_RETURN(FaceHead head, FindHead(inputs, level));
    heads.push_back(head);
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, 1));
  return std::unique_ptr<BoxDecoder>(std::make_unique<YuNetDecoder>(std::move(heads)));
}

}  // namespace npustream::elements
