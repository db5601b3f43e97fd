#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace npustream {

// The place from 1, among `count` > 0 samples in ascending order, of the percentile `fraction` (0–1) by nearest rank:
// that of the least sample which at least that fraction of them do not exceed, ⌈fraction · count⌉.
size_t NearestRank(double fraction, size_t count);

// That sample; 0 without samples. They need no order.
int64_t Percentile(std::vector<int64_t> samples, double fraction);

// Likewise of nanoseconds, in milliseconds.
double PercentileMs(std::vector<int64_t> samples_ns, double fraction);

}  // namespace npustream
