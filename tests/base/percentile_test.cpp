#include "base/percentile.h"

#include <gtest/gtest.h>

namespace npustream {
namespace {

// The nearest-rank method by hand: rank ⌈p · n⌉ of 15 20 35 40 50, then of 3 6 7 8 8 10 13 15 16 20.
TEST(Percentile, IsTheOneOfTheNearestRank) {
  const std::vector<int64_t> five{50, 15, 35, 20, 40};
  for (const auto& [fraction, value] :
       {std::pair{0.05, 15}, {0.30, 20}, {0.40, 20}, {0.50, 35}, {1.0, 50}, {0.0, 15}}) {
    EXPECT_EQ(Percentile(five, fraction), value) << fraction;
  }
  const std::vector<int64_t> ten{3, 6, 7, 8, 8, 10, 13, 15, 16, 20};
  for (const auto& [fraction, value] : {std::pair{0.25, 7}, {0.50, 8}, {0.75, 15}, {0.99, 20}}) {
    EXPECT_EQ(Percentile(ten, fraction), value) << fraction;
  }
}

TEST(Percentile, OfHundredIsThatOfItsNumber) {
  std::vector<int64_t> samples(100);
  for (int i = 0; i < 100; ++i) samples[i] = i + 1;
  for (int percent = 1; percent <= 100; ++percent) EXPECT_EQ(Percentile(samples, percent / 100.0), percent);
}

TEST(Percentile, OfOneAndOfNone) {
  EXPECT_EQ(Percentile({7}, 0.99), 7);
  EXPECT_EQ(Percentile({}, 0.5), 0);
  EXPECT_EQ(PercentileMs({1'500'000}, 0.5), 1.5);
}

}  // namespace
}  // namespace npustream
