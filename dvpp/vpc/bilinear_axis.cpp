#include "dvpp/vpc/bilinear_axis.h"

#include <algorithm>
#include <cmath>

namespace npustream::dvpp {

AxisTable MakeBilinearAxis(int first, int last, double start, double step, int count) {
  AxisTable axis;
  axis.index.reserve(count);
  axis.weight.reserve(count);
  for (int i = 0; i < count; ++i) {
    const double position = start + (i + 0.5) * step - 0.5;
    const double below = std::floor(position);
    int index = static_cast<int>(below);
    int weight = static_cast<int>(std::lround((position - below) * 32768));
    if (weight == 32768) {
      ++index;
      weight = 0;
    }
    if (index < first || index >= last) {
      index = std::clamp(index, first, last);
      weight = 0;
    }
    axis.index.push_back(index);
    axis.weight.push_back(static_cast<uint16_t>(weight));
  }
  return axis;
}

AxisTable MakeNearestAxis(int first, int last, double start, double step, int count) {
  AxisTable axis;
  axis.index.reserve(count);
  axis.weight.assign(count, 0);
  for (int i = 0; i < count; ++i) {
    axis.index.push_back(std::clamp(static_cast<int>(std::floor(start + (i + 0.5) * step)), first, last));
  }
  return axis;
}

}  // namespace npustream::dvpp
