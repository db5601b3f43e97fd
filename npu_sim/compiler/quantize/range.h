#pragma once

#include <optional>
#include <string_view>

#include "npu_sim/compiler/quantize/histogram.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// How the range of values that 256 steps are spread over is chosen.
enum class RangeMethod {
  kMinMax,      // everything that was seen
  kPercentile,  // all but the rarest values at each end
  kLeastSquares,  // the range whose rounding, clipping included, costs least in squares
  kEntropy,     // the range whose rounded distribution tells most about the real one (Kullback–Leibler divergence)
};

// "minmax", "percentile", "mse" and "kl"; nothing for other words.
std::optional<RangeMethod> RangeMethodOf(std::string_view word);
const char* ToString(RangeMethod method);

struct Range {
  float low = 0, high = 0;  // low ≤ 0 ≤ high
  bool operator==(const Range&) const = default;
};

Range MinMaxRange(const Histogram& histogram);
// At each end at most (100 − percentile) % of the values lie outside, to the width of a bin.
Range PercentileRange(const Histogram& histogram, double percentile);
// Of the ranges [max(min, −t), min(max, t)] the one whose values, rounded to 256 steps, have the least divergence from
// all values, those outside counted at its ends (S. Migacz, "8-bit Inference with TensorRT", GTC 2017, for ranges that
// are not symmetric).
Range EntropyRange(const Histogram& histogram);
// The ends that give the least Σ (f(value) − f(rounded value))², found one end after the other, each among 64 places.
// `function` holds f at the middle of every bin; empty: f is the identity. A function that levels off, such as Silu on
// the negative side, needs no steps there.
Range LeastSquaresRange(const Histogram& histogram, std::span<const float> function = {});
Range ChooseRange(const Histogram& histogram, RangeMethod method, double percentile);

// The range that holds both.
Range Union(const Range& a, const Range& b);

// 256 steps over a range, with zero exactly on a step: scale = (high − low) / 255, zero point = round(−low / scale).
om::Quantization ByteQuantization(const Range& range);

// Weights' scales: max |w| / 127 per result channel (axis 0), zero points 0; 1 for a channel of zeros.
om::Quantization WeightQuantization(std::span<const float> weights, int64_t channels);
// The weights in these steps, rounded to nearest even and held in −127 … 127.
om::Bytes QuantizeWeights(std::span<const float> weights, const om::Quantization& quantization);

}  // namespace npustream::compiler
