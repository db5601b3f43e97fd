#include "npu_sim/compiler/quantize/range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace npustream::compiler {
namespace {

constexpr size_t kSteps = 256;
// Ranges that kEntropy tries, from the whole one down to one of as many bins as there are steps.
constexpr size_t kCandidates = 128;

// The divergence Σ p·ln(p/q) between the values of bins [first, last), with those outside counted at the ends, and the
// same values rounded to kSteps steps. Infinite when nothing lies inside.
double Divergence(const std::vector<uint64_t>& counts, size_t first, size_t last) {
  const size_t bins = last - first;
  const auto sum = [&](size_t from, size_t to) {
    return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(from),
                           counts.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
  };
  const double inside = sum(first, last), below = sum(0, first), above = sum(last, counts.size());
  if (inside == 0) return std::numeric_limits<double>::infinity();
  const double total = inside + below + above;
  double divergence = 0;
  for (size_t step = 0; step < kSteps; ++step) {
    const size_t from = first + step * bins / kSteps, to = first + (step + 1) * bins / kSteps;
    const double mass = sum(from, to);
    const auto filled = static_cast<double>(std::count_if(counts.begin() + static_cast<std::ptrdiff_t>(from),
                                                          counts.begin() + static_cast<std::ptrdiff_t>(to),
                                                          [](uint64_t count) { return count != 0; }));
    for (size_t bin = from; bin < to; ++bin) {
      double p = static_cast<double>(counts[bin]);
      // A step spreads what it holds evenly over those of its bins that hold something.
      const double q = p > 0 ? mass / filled / inside : 0;
      if (bin == first) p += below;
      if (bin == last - 1) p += above;
      if (p == 0) continue;
      p /= total;
      // Outliers in an empty last bin: as rare as can be.
      divergence += p * std::log(p / (q > 0 ? q : 1e-9));
    }
  }
  return divergence;
}

// The values of a histogram and what a function makes of them.
class RoundedFunction {
 public:
  RoundedFunction(const Histogram& histogram, std::span<const float> function)
      : histogram_(histogram), function_(function) {
    for (size_t bin = 0; bin < Histogram::kBins; ++bin) {
      if (const uint64_t count = histogram.counts()[bin]; count > 0)
        values_.push_back({histogram.Center(bin), Of(histogram.Center(bin)), static_cast<double>(count)});
    }
  }

  double Error(const Range& range) const {
    const om::Quantization q = ByteQuantization(range);
    const double scale = q.scales[0], zero = q.zero_points[0];
    std::array<double, kSteps> rounded;
    for (size_t i = 0; i < kSteps; ++i) rounded[i] = Of((static_cast<double>(i) - zero) * scale);
    double error = 0;
    for (const Value& value : values_) {
      const double step = std::clamp(std::nearbyint(value.place / scale) + zero, 0.0, static_cast<double>(kSteps - 1));
      const double difference = value.result - rounded[static_cast<size_t>(step)];
      error += value.count * difference * difference;
    }
    return error;
  }

 private:
  struct Value {
    double place, result, count;
  };

  // Between the middles of bins on a straight line.
  double Of(double place) const {
    if (function_.empty()) return place;
    const double at = place / histogram_.bin_width() + Histogram::kHalf - 0.5;
    const double bin = std::clamp(std::floor(at), 0.0, static_cast<double>(Histogram::kBins - 2));
    const double low = function_[static_cast<size_t>(bin)], high = function_[static_cast<size_t>(bin) + 1];
    return low + (high - low) * std::clamp(at - bin, 0.0, 1.0);
  }

  const Histogram& histogram_;
  const std::span<const float> function_;
  std::vector<Value> values_;
};

}  // namespace

std::optional<RangeMethod> RangeMethodOf(std::string_view word) {
  for (const RangeMethod method : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kLeastSquares,
                                   RangeMethod::kEntropy}) {
    if (word == ToString(method)) return method;
  }
  return std::nullopt;
}

const char* ToString(RangeMethod method) {
  switch (method) {
    case RangeMethod::kMinMax: return "minmax";
    case RangeMethod::kPercentile: return "percentile";
    case RangeMethod::kLeastSquares: return "mse";
    case RangeMethod::kEntropy: return "kl";
  }
  return "";
}

Range MinMaxRange(const Histogram& histogram) {
  return {std::min(histogram.min(), 0.0f), std::max(histogram.max(), 0.0f)};
}

Range PercentileRange(const Histogram& histogram, double percentile) {
  const auto outside = static_cast<uint64_t>(static_cast<double>(histogram.total()) * (100 - percentile) / 100);
  const std::vector<uint64_t>& counts = histogram.counts();
  size_t first = 0, last = counts.size();
  for (uint64_t passed = 0; first < last && (passed += counts[first]) <= outside;) ++first;
  for (uint64_t passed = 0; last > first && (passed += counts[last - 1]) <= outside;) --last;
  const auto edge = [&](size_t bin) {
    return static_cast<float>((static_cast<double>(bin) - Histogram::kHalf) * histogram.bin_width());
  };
  const Range all = MinMaxRange(histogram);
  return {std::clamp(edge(first), all.low, 0.0f), std::clamp(edge(last), 0.0f, all.high)};
}

Range EntropyRange(const Histogram& histogram) {
  const Range all = MinMaxRange(histogram);
  if (histogram.empty() || all.low == all.high) return all;
  const double width = histogram.bin_width();
  const auto bins_of = [&](float length) { return static_cast<size_t>(std::ceil(static_cast<double>(length) / width)); };
  const size_t below = std::min(bins_of(-all.low), Histogram::kHalf), above = std::min(bins_of(all.high), Histogram::kHalf);
  const size_t longest = std::max(below, above);
  double least = std::numeric_limits<double>::infinity();
  Range best = all;
  for (size_t candidate = 0; candidate < kCandidates; ++candidate) {
    const size_t t = longest - longest * candidate / kCandidates;
    const size_t first = Histogram::kHalf - std::min(below, t), last = Histogram::kHalf + std::min(above, t);
    if (last - first < kSteps) break;
    const double divergence = Divergence(histogram.counts(), first, last);
    if (divergence >= least) continue;
    least = divergence;
    const auto reach = static_cast<float>(static_cast<double>(t) * width);
    best = {std::max(all.low, -reach), std::min(all.high, reach)};
  }
  return best;
}

Range LeastSquaresRange(const Histogram& histogram, std::span<const float> function) {
  constexpr int kPlaces = 64, kRounds = 2;
  const Range all = MinMaxRange(histogram);
  if (histogram.empty() || all.low == all.high) return all;
  const RoundedFunction rounded(histogram, function);
  Range best = all;
  double least = rounded.Error(best);
  const auto improve = [&](float Range::* end) {
    for (int place = 1; place < kPlaces; ++place) {
      Range tried = best;
      tried.*end = all.*end * static_cast<float>(place) / kPlaces;
      const double error = rounded.Error(tried);
      if (error >= least) continue;
      least = error;
      best = tried;
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    improve(&Range::high);
    improve(&Range::low);
  }
  return best;
}

Range ChooseRange(const Histogram& histogram, RangeMethod method, double percentile) {
  switch (method) {
    case RangeMethod::kPercentile: return PercentileRange(histogram, percentile);
    case RangeMethod::kLeastSquares: return LeastSquaresRange(histogram);
    case RangeMethod::kEntropy: return EntropyRange(histogram);
    case RangeMethod::kMinMax: break;
  }
  return MinMaxRange(histogram);
}

Range Union(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

om::Quantization ByteQuantization(const Range& range) {
  // In doubles, as the ends may be so far apart that their distance is no float.
  const double scale = (static_cast<double>(range.high) - range.low) / (kSteps - 1);
  if (!(scale > 0x1p-100) || !(scale < 0x1p100)) return {{1}, {0}};
  const double zero = std::nearbyint(-range.low / scale);
  return {{static_cast<float>(scale)}, {static_cast<int32_t>(std::clamp(zero, 0.0, 255.0))}};
}

om::Quantization WeightQuantization(std::span<const float> weights, int64_t channels) {
  om::Quantization result;
  const size_t per_channel = channels > 0 ? weights.size() / static_cast<size_t>(channels) : 0;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    float largest = 0;
    for (const float weight : weights.subspan(c * per_channel, per_channel))
      largest = std::max(largest, std::fabs(weight));
    result.scales.push_back(largest > 0x1p-100f ? largest / 127 : 1.0f);
    result.zero_points.push_back(0);
  }
  return result;
}

om::Bytes QuantizeWeights(std::span<const float> weights, const om::Quantization& quantization) {
  const size_t per_channel = weights.size() / quantization.scales.size();
  om::Bytes bytes(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const float steps = std::nearbyint(weights[i] / quantization.scales[i / per_channel]);
    bytes[i] = static_cast<std::byte>(static_cast<int8_t>(std::clamp(steps, -127.0f, 127.0f)));
  }
  return bytes;
}

}  // namespace npustream::compiler
