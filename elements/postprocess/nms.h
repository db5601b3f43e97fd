#pragma once

#include <cstddef>
#include <vector>

#include "elements/postprocess/detection.h"

namespace npustream::elements {

struct NmsOptions {
  float iou_limit = 0.6f;    // a box that overlaps a better one by more than this is dropped
  bool agnostic = false;     // compare across classes
  int max_detections = 300;  // the best ones stay
  // Candidates from which classes are worked on in parallel (oneTBB); below, handing work out costs more than it
  // saves. The result is the same either way.
  size_t parallel_from = 4096;
};

// Greedy non-maximum suppression: candidates from the best confidence down (the earlier in the list on ties) stay
// unless one that stayed, of the same class unless `agnostic`, overlaps them with an intersection over union above the
// limit. Gives what stays in that order. Candidates whose confidence is not finite are left out. Any thread; parallel
// work takes place in one arena of ThreadBudget() threads for the process.
std::vector<Detection> SuppressNonMaxima(std::vector<Detection> candidates, const NmsOptions& options);

}  // namespace npustream::elements
