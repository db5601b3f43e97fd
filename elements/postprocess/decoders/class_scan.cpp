#include "elements/postprocess/decoders/class_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace npustream::elements {
namespace {

constexpr int kLanes = 16;  // independent maxima, so that the compiler may use vectors
constexpr float kNone = -std::numeric_limits<float>::infinity();

}  // namespace

float GreatestScore(const float* scores, int64_t count) {
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, kNone);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] = scores[i + lane] > lanes[lane] ? scores[i + lane] : lanes[lane];
  }
  for (; i < count; ++i) lanes[0] = scores[i] > lanes[0] ? scores[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

BestClass FindBestClass(const float* scores, int64_t count) {
  const float best = GreatestScore(scores, count);
  return {ClassWithScore(scores, count, 1, best), best};
}

void GreatestPerCell(const float* scores, int64_t classes, int64_t class_stride, int64_t cells, float* best) {
  std::fill(best, best + cells, kNone);
  for (int64_t c = 0; c < classes; ++c) {
    const float* row = scores + c * class_stride;
    for (int64_t i = 0; i < cells; ++i) best[i] = row[i] > best[i] ? row[i] : best[i];
  }
}

int32_t ClassWithScore(const float* scores, int64_t classes, int64_t class_stride, float best) {
  for (int64_t c = 0; c < classes; ++c) {
    if (scores[c * class_stride] == best) return static_cast<int32_t>(c);
  }
  return -1;
}

float Sigmoid(float value) { return 1.0f / (1.0f + std::exp(-value)); }

float Logit(float probability) {
  if (probability <= 0) return kNone;
  if (probability >= 1) return -kNone;
  return std::log(probability / (1.0f - probability));
}

bool LookLikeLogits(const float* scores, int64_t count) {
  return std::any_of(scores, scores + count, [](float score) { return score < 0.0f || score > 1.0f; });
}

Box BoxAround(float center_x, float center_y, float width, float height) {
  return {center_x - width / 2, center_y - height / 2, center_x + width / 2, center_y + height / 2};
}

void AppendCandidate(const Box& box, float confidence, int32_t label_id, float threshold,
                     std::vector<Detection>& candidates) {
  // NaN fails every comparison; an infinite edge makes one of the differences infinite or NaN.
  if (!(confidence >= threshold) || !std::isfinite(confidence) || label_id < 0) return;
  if (!(box.x_max > box.x_min) || !(box.y_max > box.y_min)) return;
  if (!std::isfinite(box.x_max - box.x_min) || !std::isfinite(box.y_max - box.y_min)) return;
  candidates.push_back({box, confidence, label_id, {}});
}

}  // namespace npustream::elements
