#include "npu_sim/compiler/quantize/histogram.h"

#include <algorithm>
#include <cmath>

namespace npustream::compiler {

void Histogram::GrowTo(float magnitude) {
  // The power of two above the magnitude; the largest float has none.
  const float wanted = std::exp2(std::floor(std::log2(magnitude)) + 1);
  if (limit_ == 0) limit_ = std::isfinite(wanted) ? std::min(wanted, 0x1p127f) : 0x1p127f;
  while (limit_ <= magnitude && limit_ < 0x1p127f) {
    std::vector<uint64_t> merged(kBins);
    for (size_t bin = 0; bin < kBins; ++bin) merged[kHalf / 2 + bin / 2] += counts_[bin];
    counts_ = std::move(merged);
    limit_ *= 2;
  }
}

void Histogram::Add(std::span<const float> values) {
  float low = min_, high = max_;
  bool first = total_ == 0;
  uint64_t finite = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = first ? value : std::min(low, value);
    high = first ? value : std::max(high, value);
    first = false;
    ++finite;
  }
  if (finite == 0) return;
  min_ = low, max_ = high;
  total_ += finite;
  // Zeros alone say nothing about the limit, and a limit that depended on them would depend on the order of calls.
  const float magnitude = std::max(std::fabs(low), std::fabs(high));
  if (magnitude > 0 && magnitude >= limit_) GrowTo(std::max(magnitude, 0x1p-100f));
  const double bins_per_unit = limit_ > 0 ? kHalf / static_cast<double>(limit_) : 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const double bin = std::floor(value * bins_per_unit) + kHalf;
    ++counts_[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(kBins - 1)))];
  }
}

}  // namespace npustream::compiler
