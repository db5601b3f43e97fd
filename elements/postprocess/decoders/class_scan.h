#pragma once

#include <cstdint>
#include <vector>

#include "elements/postprocess/detection.h"

namespace npustream::elements {

struct BestClass {
  int32_t label_id = -1;  // −1: no score was a number
  float score = 0;
};

// The greatest of `count` adjacent scores, the first on ties; NaN never wins.
BestClass FindBestClass(const float* scores, int64_t count);
// Its value alone, −infinity when all are NaN: the quick look before FindBestClass.
float GreatestScore(const float* scores, int64_t count);

// Scores that lie class by class: score (class c, cell i) at scores[c · class_stride + i]. Writes the greatest of each
// of `cells` cells to `best`, −infinity where all are NaN.
void GreatestPerCell(const float* scores, int64_t classes, int64_t class_stride, int64_t cells, float* best);
// The first class of cell 0 whose score is `best`.
int32_t ClassWithScore(const float* scores, int64_t classes, int64_t class_stride, float best);

float Sigmoid(float value);
// The value whose sigmoid is `probability`; −infinity for 0 or less, +infinity for 1 or more.
float Logit(float probability);
// True when a score lies outside 0 … 1, so that the scores cannot be probabilities.
bool LookLikeLogits(const float* scores, int64_t count);

// A box from its centre and size.
Box BoxAround(float center_x, float center_y, float width, float height);
// Appends unless the confidence is below the threshold or not finite, or the box is empty or not finite.
void AppendCandidate(const Box& box, float confidence, int32_t label_id, float threshold,
                     std::vector<Detection>& candidates);

}  // namespace npustream::elements
