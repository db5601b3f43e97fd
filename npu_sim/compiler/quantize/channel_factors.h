#pragma once

#include <span>
#include <vector>

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {

// What was seen of a tensor's channels (axis 1).
struct ChannelStatistics {
  double count = 0;  // of values in a channel
  std::vector<double> sums, squares;
  std::vector<float> lows, highs;  // low ≤ 0 ≤ high

  // Values of whole images, [n][channel][pixel]. Values that are not finite are left out of sums.
  void Add(std::span<const float> values, size_t channels, size_t pixels);
  double Mean(size_t channel) const { return sums[channel] / count; }
};

// A tensor whose channels differ by orders of magnitude loses those with small values when all share one scale. Its
// channels can be multiplied by factors before it becomes bytes, and its readers' weights divided by them, if it comes
// from a convolution and is read by convolutions with constant weights alone.
bool TakesChannelFactors(const om::Graph& graph, const Uses& uses, om::TensorId id);

// The weights of a convolution whose source was multiplied by `factors`.
std::vector<float> DividedWeights(const om::Graph& graph, const om::Node& conv, std::span<const float> factors);

// Factors 1 / range^α with the α among 0, ¼ … 1 for which rounding the tensor to bytes, and its readers' weights to signed
// ones, is predicted to make the least relative error of the readers' sums: small channels of the tensor want a large α,
// as do depthwise readers; weights that are to share a scale want a small one. Empty when that is 0.
std::vector<float> ChooseChannelFactors(const om::Graph& graph, const Uses& uses, om::TensorId id,
                                        const ChannelStatistics& statistics);

}  // namespace npustream::compiler
