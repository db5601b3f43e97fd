#include "npu_sim/compiler/quantize/channel_factors.h"

#include <algorithm>
#include <cmath>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/passes/separate_activations.h"

namespace npustream::compiler {
namespace {

// Where a convolution's weights find their source channel: [result][source in its group][tap].
struct WeightMap {
  size_t results, sources, taps, group_results;

  WeightMap(const om::Graph& graph, const om::Node& conv) {
    const om::Dims& dims = TensorOf(graph, conv.inputs[1]).dims;
    results = static_cast<size_t>(dims[0]), sources = static_cast<size_t>(dims[1]);
    taps = static_cast<size_t>(om::ElementCount(dims)) / results / sources;
    group_results = results / static_cast<size_t>(om::GetInt(conv, "group", 1));
  }
  size_t Channel(size_t result, size_t source) const { return result / group_results * sources + source; }
};

// What rounding is predicted to do to the sums of one reader, relative to their own power; the mean over its results.
// `ranges`: what the tensor's channels are divided by; `step`: of the tensor's bytes then.
double ReaderError(const om::Graph& graph, const om::Node& conv, const ChannelStatistics& statistics,
                   std::span<const double> ranges, double step) {
  const WeightMap map(graph, conv);
  const std::span<const float> weights = FloatView(TensorOf(graph, conv.inputs[1]));
  double total = 0;
  for (size_t result = 0; result < map.results; ++result) {
    const float* w = weights.data() + result * map.sources * map.taps;
    double largest = 0, signal = 0, source_noise = 0, values = 0;
    for (size_t source = 0; source < map.sources; ++source) {
      const size_t c = map.Channel(result, source);
      const double mean = statistics.Mean(c), variance = statistics.squares[c] / statistics.count - mean * mean;
      double power = 0;
      for (size_t tap = 0; tap < map.taps; ++tap, ++w) {
        power += static_cast<double>(*w) * *w;
        largest = std::max(largest, std::fabs(*w) * ranges[c]);
      }
      signal += power * variance;
      source_noise += power * ranges[c] * ranges[c];
      // What the weights' errors do to means is taken out of the bias.
      values += static_cast<double>(map.taps) * variance / (ranges[c] * ranges[c]);
    }
    const double weight_step = largest / 127;
    if (signal > 0) total += (source_noise * step * step + values * weight_step * weight_step) / 12 / signal;
  }
  return total / static_cast<double>(map.results);
}

}  // namespace

void ChannelStatistics::Add(std::span<const float> values, size_t channels, size_t pixels) {
  if (channels == 0 || pixels == 0) return;
  for (auto* list : {&sums, &squares}) list->resize(channels);
  for (auto* list : {&lows, &highs}) list->resize(channels);
  for (size_t first = 0, c = 0; first + pixels <= values.size(); first += pixels, c = (c + 1) % channels) {
    double sum = 0, square = 0;
    float low = lows[c], high = highs[c];
    for (const float value : values.subspan(first, pixels)) {
      if (!std::isfinite(value)) continue;
      sum += value, square += static_cast<double>(value) * value;
      low = std::min(low, value), high = std::max(high, value);
    }
    sums[c] += sum, squares[c] += square, lows[c] = low, highs[c] = high;
  }
  count += static_cast<double>(values.size() / channels);
}

// Whether a tensor is a convolution's result, or what a function makes of it.
bool ComesFromConv(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  const om::TensorId before = BeforeFunction(graph, uses, id);
  return ProducerOf(graph, uses, before == om::kNoTensor ? id : before, "Conv") != nullptr;
}

bool TakesChannelFactors(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  const om::Tensor& tensor = TensorOf(graph, id);
  if (!ComesFromConv(graph, uses, id) || uses.IsGraphOutput(id) || tensor.dims.size() != 4 || uses.Consumers(id).empty()) return false;
  const auto& consumers = uses.Consumers(id);
  return std::all_of(consumers.begin(), consumers.end(), [&](int reader) {
    const om::Node& conv = graph.nodes[static_cast<size_t>(reader)];
    return conv.op == "Conv" && conv.inputs[0] == id && std::count(conv.inputs.begin(), conv.inputs.end(), id) == 1 &&
           !FloatView(TensorOf(graph, conv.inputs[1])).empty();
  });
}

std::vector<float> DividedWeights(const om::Graph& graph, const om::Node& conv, std::span<const float> factors) {
  const WeightMap map(graph, conv);
  const std::span<const float> weights = FloatView(TensorOf(graph, conv.inputs[1]));
  std::vector<float> divided(weights.begin(), weights.end());
  size_t i = 0;
  for (size_t result = 0; result < map.results; ++result) {
    for (size_t source = 0; source < map.sources; ++source) {
      for (size_t tap = 0; tap < map.taps; ++tap, ++i) divided[i] /= factors[map.Channel(result, source)];
    }
  }
  return divided;
}

std::vector<float> ChooseChannelFactors(const om::Graph& graph, const Uses& uses, om::TensorId id,
                                        const ChannelStatistics& statistics) {
  // Functions such as Silu have the same least value in every channel; this much of a range is left to it.
  constexpr double kLowShare = 0.25;
  const size_t channels = statistics.highs.size();
  std::vector<double> ranges(channels);
  double widest = 0;
  for (size_t c = 0; c < channels; ++c) {
    ranges[c] = std::max<double>(statistics.highs[c], -statistics.lows[c] * (1 - kLowShare) / kLowShare);
    widest = std::max(widest, ranges[c]);
  }
  if (widest == 0) return {};
  // Channels that are never used must not get huge factors.
  for (double& range : ranges) range = std::max(range / widest, 1e-3);
  double least = 0;
  std::vector<double> best;
  for (const double alpha : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    std::vector<double> divisors(channels);
    double low = 0, high = 0;
    for (size_t c = 0; c < channels; ++c) {
      divisors[c] = std::pow(ranges[c], alpha);
      low = std::min(low, statistics.lows[c] / divisors[c]), high = std::max(high, statistics.highs[c] / divisors[c]);
    }
    double error = 0;
    for (const int reader : uses.Consumers(id))
      error += ReaderError(graph, graph.nodes[static_cast<size_t>(reader)], statistics, divisors, (high - low) / 255);
    if (alpha > 0 && error >= least) continue;
    least = error;
    best = alpha > 0 ? divisors : std::vector<double>();
  }
  std::vector<float> factors(best.size());
  std::transform(best.begin(), best.end(), factors.begin(), [](double divisor) { return static_cast<float>(1 / divisor); });
  return factors;
}

}  // namespace npustream::compiler
