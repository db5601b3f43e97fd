#include "pipeline/metrics/latency_histogram.h"

#include <algorithm>
#include <bit>

#include "base/percentile.h"

namespace npustream::pipeline {

// Values below 64 have a bucket each; above, the leading bit chooses a group and the next six the bucket.
int LatencyHistogram::BucketOf(uint64_t value) {
  constexpr uint64_t kLinear = uint64_t{1} << kSubBits;
  if (value < kLinear) return static_cast<int>(value);
  const int group = std::bit_width(value) - kSubBits;
  return (group << kSubBits) + static_cast<int>((value >> (group - 1)) - kLinear);
}

int64_t LatencyHistogram::UpperEdge(int bucket) {
  const int group = bucket >> kSubBits;
  const int64_t step = bucket & ((1 << kSubBits) - 1);
  if (group == 0) return step;
  return (((int64_t{1} << kSubBits) + step + 1) << (group - 1)) - 1;
}

void LatencyHistogram::Add(int64_t nanoseconds) {
  ++counts_[BucketOf(static_cast<uint64_t>(std::max<int64_t>(nanoseconds, 0)))];
  ++count_;
}

int64_t LatencyHistogram::QuantileNs(double fraction) const {
  if (count_ == 0) return 0;
  const size_t wanted = NearestRank(fraction, count_);
  uint64_t seen = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return UpperEdge(bucket);
  }
  return UpperEdge(kBuckets - 1);
}

}  // namespace npustream::pipeline
