#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace npustream::compiler {

// How often values occur. The bins lie on both sides of zero, from −limit to limit; the limit is a power of two and
// doubles, two bins becoming one, when a value lies beyond it. So nothing has to be known beforehand, and the result does
// not depend on how values are cut into calls of Add. Values that are not finite are left out.
class Histogram {
 public:
  static constexpr size_t kHalf = 2048;  // bins on each side of zero
  static constexpr size_t kBins = 2 * kHalf;

  void Add(std::span<const float> values);

  bool empty() const { return total_ == 0; }
  float min() const { return min_; }  // of the values themselves; 0 when there are none
  float max() const { return max_; }
  uint64_t total() const { return total_; }
  float limit() const { return limit_; }
  double bin_width() const { return static_cast<double>(limit_) / kHalf; }
  // The value in the middle of a bin.
  double Center(size_t bin) const { return (static_cast<double>(bin) - kHalf + 0.5) * bin_width(); }
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  void GrowTo(float magnitude);

  std::vector<uint64_t> counts_ = std::vector<uint64_t>(kBins);
  uint64_t total_ = 0;
  float min_ = 0, max_ = 0;
  float limit_ = 0;  // 0: no bins yet, only zeros were seen
};

}  // namespace npustream::compiler
