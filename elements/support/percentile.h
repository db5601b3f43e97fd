#pragma once

#include <cstdint>
#include <vector>

namespace npustream::elements {

// The value in milliseconds below which `fraction` (0–1) of the samples lie: the one of rank ⌊fraction · (n − 1)⌋ in
// ascending order; 0 without samples. The samples need no order.
double PercentileMs(std::vector<int64_t> samples_ns, double fraction);

}  // namespace npustream::elements
