#include "npu_sim/compiler/quantize/range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace npustream::compiler {
namespace {

Histogram Of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.Add(values);
  return histogram;
}

// 100000 values of a bell curve's positive half, and a few far away.
Histogram WithOutliers() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(100000);
  for (float& value : values) value = std::fabs(normal(random));
  for (int i = 0; i < 5; ++i) values.push_back(30.0f + static_cast<float>(i));
  return Of(values);
}

TEST(Range, OfMinMaxHoldsZero) {
  EXPECT_EQ(MinMaxRange(Of({-2, 5})), (Range{-2, 5}));
  EXPECT_EQ(MinMaxRange(Of({3, 5})), (Range{0, 5}));
  EXPECT_EQ(MinMaxRange(Of({-3, -2})), (Range{-3, 0}));
  EXPECT_EQ(MinMaxRange(Histogram()), (Range{0, 0}));
}

// Limit 128, bins of 1/16: of 1000 values in the bin [0.5, 0.5625) and one at 100, 1 % may lie outside.
TEST(Range, OfPercentileLeavesTheRarestOut) {
  std::vector<float> values(1000, 0.5f);
  values.push_back(100);
  EXPECT_EQ(PercentileRange(Of(values), 99), (Range{0, 0.5625f}));
  EXPECT_EQ(PercentileRange(Of(values), 100), (Range{0, 100}));
  for (float& value : values) value = -value;
  EXPECT_EQ(PercentileRange(Of(values), 99), (Range{-0.5f, 0}));
}

// Written down as the definition says: P is what was seen, cut off; Q is its middle part in 256 steps.
double DivergenceOf(const std::vector<uint64_t>& counts, size_t bins) {
  std::vector<double> p(counts.begin() + Histogram::kHalf, counts.begin() + static_cast<std::ptrdiff_t>(Histogram::kHalf + bins));
  const std::vector<double> inside = p;
  for (size_t i = Histogram::kHalf + bins; i < counts.size(); ++i) p.back() += static_cast<double>(counts[i]);
  std::vector<double> q(bins);
  for (size_t step = 0; step < 256; ++step) {
    double mass = 0, filled = 0;
    for (size_t i = step * bins / 256; i < (step + 1) * bins / 256; ++i) mass += inside[i], filled += inside[i] > 0 ? 1 : 0;
    for (size_t i = step * bins / 256; i < (step + 1) * bins / 256; ++i) q[i] = inside[i] > 0 ? mass / filled : 0;
  }
  double p_sum = 0, q_sum = 0, divergence = 0;
  for (size_t i = 0; i < bins; ++i) p_sum += p[i], q_sum += q[i];
  for (size_t i = 0; i < bins; ++i) {
    if (p[i] > 0) divergence += p[i] / p_sum * std::log(p[i] / p_sum / (q[i] > 0 ? q[i] / q_sum : 1e-9));
  }
  return divergence;
}

TEST(Range, OfEntropyHasTheLeastDivergence) {
  const Histogram histogram = WithOutliers();
  const auto longest = static_cast<size_t>(std::ceil(static_cast<double>(histogram.max()) / histogram.bin_width()));
  double least = 1e30;
  size_t best = 0;
  for (size_t candidate = 0; candidate < 128; ++candidate) {
    const size_t bins = longest - longest * candidate / 128;
    if (bins < 256) break;
    if (const double divergence = DivergenceOf(histogram.counts(), bins); divergence < least)
      least = divergence, best = bins;
  }
  EXPECT_FLOAT_EQ(EntropyRange(histogram).high, static_cast<float>(static_cast<double>(best) * histogram.bin_width()));
  EXPECT_EQ(EntropyRange(histogram).low, 0);
  EXPECT_LT(EntropyRange(histogram).high, 10);  // the outliers are not worth the steps
}

TEST(Range, OfLeastSquaresIsBetterThanItsNeighbours) {
  const Histogram histogram = WithOutliers();
  const Range range = LeastSquaresRange(histogram);
  const auto error = [&](float high) {
    const double scale = static_cast<double>(high) / 255;
    double sum = 0;
    for (size_t bin = Histogram::kHalf; bin < Histogram::kBins; ++bin) {
      const double value = histogram.Center(bin);
      const double rounded = std::min(std::nearbyint(value / scale), 255.0) * scale;
      sum += static_cast<double>(histogram.counts()[bin]) * (value - rounded) * (value - rounded);
    }
    return sum;
  };
  for (int place = 1; place <= 64; ++place) {
    EXPECT_LE(error(range.high), error(histogram.max() * static_cast<float>(place) / 64) * (1 + 1e-6));
  }
}

// A function that is 0 on the negative side needs no steps there: the end nearest to zero is taken.
TEST(Range, OfLeastSquaresSpendsNothingWhereAFunctionIsFlat) {
  std::vector<float> values, relu(Histogram::kBins);
  for (int i = -1000; i <= 1000; ++i) values.push_back(static_cast<float>(i) / 100);
  const Histogram histogram = Of(values);
  for (size_t bin = 0; bin < relu.size(); ++bin) relu[bin] = static_cast<float>(std::max(0.0, histogram.Center(bin)));
  const Range range = LeastSquaresRange(histogram, relu);
  EXPECT_NEAR(range.low, -10.0 / 64, 1e-6);
  EXPECT_GT(range.high, 9.5f);
}

TEST(Quantization, OfBytesPutsZeroOnAStep) {
  EXPECT_EQ(ByteQuantization({-1, 3}), (om::Quantization{{4.0f / 255}, {64}}));  // 255 / 4 = 63.75
  EXPECT_EQ(ByteQuantization({0, 255}), (om::Quantization{{1}, {0}}));
  EXPECT_EQ(ByteQuantization({-255, 0}), (om::Quantization{{1}, {255}}));
  EXPECT_EQ(ByteQuantization({0, 0}), (om::Quantization{{1}, {0}}));
}

TEST(Quantization, OfWeightsIsSymmetricPerChannel) {
  const std::vector<float> weights = {-2, 1, 0.5f, 0, 0, 0};
  const om::Quantization quantization = WeightQuantization(weights, 2);
  EXPECT_EQ(quantization, (om::Quantization{{2.0f / 127, 1}, {0, 0}}));
  // −127, 63.5 → 64 (even), 31.75 → 32
  const om::Bytes bytes = QuantizeWeights(weights, quantization);
  const std::vector<int> expected = {-127, 64, 32, 0, 0, 0};
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(static_cast<int8_t>(bytes[i]), expected[i]) << i;
}

}  // namespace
}  // namespace npustream::compiler
