#pragma once

#include <array>
#include <cstdint>

namespace npustream::pipeline {

// Counts durations in buckets whose width grows with the value, so that a quantile is off by at most 1/64 of itself and
// the size does not grow with the number of values. Not thread-safe.
class LatencyHistogram {
 public:
  // Negative values count as 0.
  void Add(int64_t nanoseconds);
  uint64_t count() const { return count_; }
  // The least duration that at least `fraction` (0 … 1) of the values do not exceed, to a bucket; 0 without values.
  int64_t QuantileNs(double fraction) const;

 private:
  static constexpr int kSubBits = 6;  // 64 buckets per power of two
  static constexpr int kBuckets = (64 - kSubBits) << kSubBits;
  static int BucketOf(uint64_t value);
  static int64_t UpperEdge(int bucket);

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
};

}  // namespace npustream::pipeline
