#include "elements/support/percentile.h"

#include <algorithm>
#include <cstddef>

namespace npustream::elements {

double PercentileMs(std::vector<int64_t> samples_ns, double fraction) {
  if (samples_ns.empty()) return 0;
  const auto rank = static_cast<ptrdiff_t>(fraction * static_cast<double>(samples_ns.size() - 1));
  std::nth_element(samples_ns.begin(), samples_ns.begin() + rank, samples_ns.end());
  return static_cast<double>(samples_ns[rank]) / 1e6;
}

}  // namespace npustream::elements
