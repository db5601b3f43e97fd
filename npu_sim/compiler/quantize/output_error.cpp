#include "npu_sim/compiler/quantize/output_error.h"

#include <algorithm>
#include <cmath>

namespace npustream::compiler {

void ErrorSum::Add(std::span<const float> real, std::span<const float> found) {
  for (size_t i = 0; i < real.size(); ++i) {
    if (!std::isfinite(real[i]) || !std::isfinite(found[i])) continue;
    const double a = real[i], b = found[i];
    signal_ += a * a;
    found_ += b * b;
    product_ += a * b;
    noise_ += (a - b) * (a - b);
    largest_ = std::max(largest_, std::fabs(a - b));
  }
}

double ErrorSum::Relative() const {
  if (noise_ == 0) return 0;
  return signal_ == 0 ? 1 : std::sqrt(noise_ / signal_);
}

double ErrorSum::SqnrDb() const {
  constexpr double kMost = 200;
  const double relative = Relative();
  return relative == 0 ? kMost : std::min(kMost, -20 * std::log10(relative));
}

double ErrorSum::Cosine() const {
  if (signal_ == 0 || found_ == 0) return signal_ == found_ ? 1 : 0;
  return product_ / std::sqrt(signal_ * found_);
}

}  // namespace npustream::compiler
