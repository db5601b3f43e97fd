#include "base/percentile.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace npustream {

size_t NearestRank(double fraction, size_t count) {
  // 0.07 · 100 is a little more than 7 in floating point.
  constexpr double kRounding = 1e-9;
  const double rank = std::ceil(fraction * static_cast<double>(count) - kRounding);
  return static_cast<size_t>(std::clamp(rank, 1.0, static_cast<double>(count)));
}

int64_t Percentile(std::vector<int64_t> samples, double fraction) {
  if (samples.empty()) return 0;
  const auto place = samples.begin() + static_cast<ptrdiff_t>(NearestRank(fraction, samples.size()) - 1);
  std::nth_element(samples.begin(), place, samples.end());
  return *place;
}

double PercentileMs(std::vector<int64_t> samples_ns, double fraction) {
  return static_cast<double>(Percentile(std::move(samples_ns), fraction)) / 1e6;
}

}  // namespace npustream
