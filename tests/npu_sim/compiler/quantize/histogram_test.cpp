#include "npu_sim/compiler/quantize/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace npustream::compiler {
namespace {

constexpr size_t kHalf = Histogram::kHalf;

TEST(Histogram, PutsValuesIntoBinsOnBothSidesOfZero) {
  Histogram histogram;
  histogram.Add(std::vector<float>{0.5f, 0, -0.25f});
  EXPECT_EQ(histogram.limit(), 1);
  EXPECT_EQ(histogram.min(), -0.25f);
  EXPECT_EQ(histogram.max(), 0.5f);
  EXPECT_EQ(histogram.counts()[kHalf + kHalf / 2], 1u);
  EXPECT_EQ(histogram.counts()[kHalf], 1u);
  EXPECT_EQ(histogram.counts()[kHalf - kHalf / 4], 1u);
}

TEST(Histogram, DoublesItsLimitByMergingBins) {
  Histogram histogram;
  histogram.Add(std::vector<float>{0.5f, -0.25f, 0.50001f});
  histogram.Add(std::vector<float>{3});
  EXPECT_EQ(histogram.limit(), 4);
  EXPECT_EQ(histogram.counts()[kHalf + kHalf / 8], 2u);
  EXPECT_EQ(histogram.counts()[kHalf - kHalf / 16], 1u);
  EXPECT_EQ(histogram.counts()[kHalf + kHalf * 3 / 4], 1u);
  EXPECT_EQ(histogram.total(), 4u);
}

TEST(Histogram, DoesNotDependOnHowValuesAreCut) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 5);
  std::vector<float> values(10000);
  for (float& value : values) value = std::pow(normal(random), 3.0f);
  Histogram whole, parts;
  whole.Add(values);
  for (size_t i = 0; i < values.size(); i += 16) parts.Add(std::span(values).subspan(i, 16));
  EXPECT_EQ(whole.limit(), parts.limit());
  EXPECT_EQ(whole.counts(), parts.counts());
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  Histogram histogram;
  histogram.Add(std::vector<float>{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()});
  EXPECT_TRUE(histogram.empty());
  histogram.Add(std::vector<float>{std::numeric_limits<float>::max(), -1});
  EXPECT_EQ(histogram.total(), 2u);
  EXPECT_EQ(histogram.max(), std::numeric_limits<float>::max());
}

}  // namespace
}  // namespace npustream::compiler
