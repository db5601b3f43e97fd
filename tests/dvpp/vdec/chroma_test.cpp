#include "dvpp/vdec/chroma.h"

#include <random>

#include <gtest/gtest.h>

namespace npustream::dvpp {
namespace {

std::vector<uint8_t> Noise(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(InterleaveChroma, PairsAreUThenVOnEveryPath) {
  for (const Simd simd : {Simd::kScalar, Simd::kAvx2, Simd::kAvx512}) {
    if (!CanRun(simd)) continue;
    for (int width = 1; width < 200; width += 3) {
      const int columns = (width + 1) / 2;
      const std::vector<uint8_t> u = Noise(columns * 3, 1);
      const std::vector<uint8_t> v = Noise(columns * 3, 2);
      std::vector<uint8_t> pairs(columns * 2 * 3 + 8, 0xee);
      InterleaveChroma({u.data(), v.data(), columns, columns, 1, 1, width, 5},
                       {pairs.data(), columns * 2, columns, 3, 2}, simd);
      for (int i = 0; i < columns * 3; ++i) {
        ASSERT_EQ(pairs[2 * i], u[i]);
        ASSERT_EQ(pairs[2 * i + 1], v[i]);
      }
      for (size_t i = columns * 6; i < pairs.size(); ++i) ASSERT_EQ(pairs[i], 0xee) << "written beyond the end";
    }
  }
}

TEST(InterleaveChroma, FinerChromaIsAveraged) {
  // 4:4:4, 3 × 3: the block at the corner holds one sample only.
  const uint8_t u[9] = {10, 20, 30, 40, 51, 60, 70, 80, 90};
  const uint8_t v[9] = {0, 0, 1, 0, 0, 2, 3, 4, 255};
  uint8_t pairs[8] = {};
  InterleaveChroma({u, v, 3, 3, 0, 0, 3, 3}, {pairs, 4, 2, 2, 2});
  EXPECT_EQ(pairs[0], 30);   // (10 + 20 + 40 + 51 + 2) / 4 = 30.75
  EXPECT_EQ(pairs[2], 45);   // (30 + 30 + 60 + 60 + 2) / 4 = 45.5
  EXPECT_EQ(pairs[4], 75);   // (70 + 80) / 2
  EXPECT_EQ(pairs[6], 90);
  EXPECT_EQ(pairs[7], 255);
}

TEST(InterleaveChroma, CoarserChromaIsRepeatedAndGreyIsNeutral) {
  const uint8_t rows[4] = {7, 9, 8, 11};  // 4:1:1, 8 × 2
  uint8_t pairs[8] = {};
  InterleaveChroma({rows, rows, 2, 2, 2, 0, 8, 2}, {pairs, 8, 4, 1, 2});
  EXPECT_EQ(pairs[0], 8);  // (7 + 7 + 8 + 8 + 2) / 4
  EXPECT_EQ(pairs[2], 8);
  EXPECT_EQ(pairs[4], 10);
  EXPECT_EQ(pairs[6], 10);
  InterleaveChroma({nullptr, nullptr, 0, 0, 0, 0, 8, 2}, {pairs, 8, 4, 1, 2});
  for (const uint8_t value : pairs) EXPECT_EQ(value, 128);
}

}  // namespace
}  // namespace npustream::dvpp
