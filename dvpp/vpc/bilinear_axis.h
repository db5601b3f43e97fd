#pragma once

#include <cstdint>
#include <vector>

namespace npustream::dvpp {

// Where the samples of one output axis come from: output i is a blend of the source samples index[i] and index[i] + 1,
// the second one with weight[i] / 2^15. Where the weight is 0 the second sample may lie outside.
struct AxisTable {
  std::vector<int32_t> index;
  std::vector<uint16_t> weight;  // 0 … 2^15 − 1
};

// Positions are centres of samples: output i lies at start + (i + ½)·step − ½ of the source, as in OpenCV's
// INTER_LINEAR; what falls outside of [first, last] takes the edge's value.
AxisTable MakeBilinearAxis(int first, int last, double start, double step, int count);
// The nearest sample instead of a blend: floor(start + (i + ½)·step).
AxisTable MakeNearestAxis(int first, int last, double start, double step, int count);

}  // namespace npustream::dvpp
