#include "elements/osd/npu_osd.h"

#include <vector>

#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

constexpr int kWidth = 64, kHeight = 48;

DetectionResult OneBox(Box box) {
  DetectionResult result;
  result.frame_width = kWidth;
  result.frame_height = kHeight;
  result.objects.push_back({{box, 0.9f, 0, {}}, "person", -1});
  return result;
}

struct Nv12 {
  std::vector<std::byte> bytes = std::vector<std::byte>(kWidth * kHeight * 3 / 2, std::byte{16});
  OsdPicture picture{OsdFormat::kNv12, kWidth, kHeight, bytes.data(), kWidth, bytes.data() + kWidth* kHeight, kWidth};
  int Luma(int x, int y) const { return static_cast<int>(bytes[y * kWidth + x]); }
};

TEST(DrawDetections, DrawsTheEdgeOfTheBoxAndNothingInsideOrOutside) {
  Nv12 frame;
  OsdStyle style;
  style.line_width = 1;
  style.labels = false;
  ASSERT_TRUE(DrawDetections(frame.picture, OneBox({10, 12, 30, 40}), style).ok());
  for (const auto& [x, y] : {std::pair{10, 12}, {29, 12}, {10, 39}, {29, 39}, {20, 12}, {10, 25}}) {
    EXPECT_GT(frame.Luma(x, y), 60) << x << "," << y;
  }
  for (const auto& [x, y] : {std::pair{9, 12}, {31, 20}, {20, 25}, {20, 11}, {20, 41}}) {
    EXPECT_EQ(frame.Luma(x, y), 16) << x << "," << y;
  }
}

TEST(DrawDetections, ColoursNv12ByItsChroma) {
  Nv12 frame;
  ASSERT_TRUE(DrawDetections(frame.picture, OneBox({10, 12, 30, 40}), {}).ok());
  const auto v = static_cast<int>(frame.bytes[kWidth * kHeight + (30 / 2) * kWidth + (10 / 2) * 2 + 1]);
  EXPECT_GT(v, 150) << "the first colour is a red";
}

TEST(DrawDetections, WritesChannelsInTheOrderOfTheFormat) {
  std::vector<std::byte> pixels(kWidth * kHeight * 3);
  OsdPicture picture{OsdFormat::kRgb, kWidth, kHeight, pixels.data(), kWidth * 3, nullptr, 0};
  ASSERT_TRUE(DrawDetections(picture, OneBox({10, 12, 30, 40}), {}).ok());
  const size_t corner = (12 * kWidth + 10) * 3;
  const std::vector<std::byte> rgb(pixels.begin() + corner, pixels.begin() + corner + 3);
  std::fill(pixels.begin(), pixels.end(), std::byte{0});
  picture.format = OsdFormat::kBgr;
  ASSERT_TRUE(DrawDetections(picture, OneBox({10, 12, 30, 40}), {}).ok());
  EXPECT_EQ(pixels[corner], rgb[2]);
  EXPECT_EQ(pixels[corner + 2], rgb[0]);
  EXPECT_NE(rgb[0], rgb[2]);
}

TEST(DrawDetections, CutsOffWhatDoesNotFit) {
  Nv12 frame;
  ASSERT_TRUE(DrawDetections(frame.picture, OneBox({50, 0, 64, 48}), {}).ok());
  Nv12 empty;
  ASSERT_TRUE(DrawDetections(empty.picture, OneBox({3, 3, 3, 3}), {}).ok());
}

}  // namespace
}  // namespace npustream::elements
