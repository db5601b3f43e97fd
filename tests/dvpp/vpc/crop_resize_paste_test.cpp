#include "dvpp/vpc/crop_resize_paste.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include "tests/dvpp/test_picture.h"

namespace npustream::dvpp {
namespace {

// The value at a real position of one channel of a plane, edges repeated inside [x0, x1] × [y0, y1].
double SampleAt(const PlaneView& plane, double x, double y, int channel, int x0, int x1, int y0, int y1) {
  const double left = std::floor(x);
  const double top = std::floor(y);
  const auto at = [&](int column, int row) -> double {
    return plane.data[std::clamp(row, y0, y1) * plane.stride + std::clamp(column, x0, x1) * plane.channels + channel];
  };
  const int c = static_cast<int>(left);
  const int r = static_cast<int>(top);
  const double above = at(c, r) + (at(c + 1, r) - at(c, r)) * (x - left);
  const double below = at(c, r + 1) + (at(c + 1, r + 1) - at(c, r + 1)) * (x - left);
  return above + (below - above) * (y - top);
}

// The largest difference between the pasted area of `target` and exact bilinear interpolation.
double LargestError(const PictureView& source, const Rectangle& crop, const PictureView& target,
                    const Rectangle& paste) {
  const FormatLayout layout = LayoutOf(source.format);
  double worst = 0;
  for (int p = 0; p < layout.planes; ++p) {
    const int sx = p == 0 ? 1 : 1 << layout.chroma_shift_x;
    const int sy = p == 0 ? 1 : 1 << layout.chroma_shift_y;
    const PlaneView from = source.Plane(p);
    const PlaneView into = target.Plane(p);
    const int columns = (paste.width + sx - 1) / sx;
    const int rows = (paste.height + sy - 1) / sy;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        // The luma position of the output sample's centre, mapped into the crop and back to this plane.
        const double u = (crop.left + (x + 0.5) * sx * crop.width / paste.width) / sx - 0.5;
        const double v = (crop.top + (y + 0.5) * sy * crop.height / paste.height) / sy - 0.5;
        for (int c = 0; c < from.channels; ++c) {
          const double exact = SampleAt(from, u, v, c, crop.left / sx, (crop.left + crop.width - 1) / sx, crop.top / sy,
                                        (crop.top + crop.height - 1) / sy);
          const uint8_t got =
              into.data[(paste.top / sy + y) * into.stride + (paste.left / sx + x) * into.channels + c];
          worst = std::max(worst, std::abs(exact - got));
        }
      }
    }
  }
  return worst;
}

constexpr acldvppPixelFormat kFormats[] = {
    PIXEL_FORMAT_YUV_400,           PIXEL_FORMAT_YUV_SEMIPLANAR_420, PIXEL_FORMAT_YVU_SEMIPLANAR_420,
    PIXEL_FORMAT_YUV_SEMIPLANAR_422, PIXEL_FORMAT_YUV_SEMIPLANAR_444, PIXEL_FORMAT_YUV_SEMIPLANAR_440,
    PIXEL_FORMAT_RGB_888,           PIXEL_FORMAT_BGRA_8888};

class EveryFormat : public testing::TestWithParam<acldvppPixelFormat> {};
INSTANTIATE_TEST_SUITE_P(CropResizePaste, EveryFormat, testing::ValuesIn(kFormats));

TEST_P(EveryFormat, StaysWithinOneLevelOfExactArithmetic) {
  std::mt19937 random(1234);
  const auto between = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  for (int round = 0; round < 60; ++round) {
    const TestPicture source = MakeTestPicture(GetParam(), between(2, 150), between(2, 120), random());
    const TestPicture target = MakeTestPicture(GetParam(), between(2, 150), between(2, 120), random());
    Rectangle crop{between(0, source.view.width - 1), between(0, source.view.height - 1), 0, 0};
    crop.width = between(1, source.view.width - crop.left);
    crop.height = between(1, source.view.height - crop.top);
    Rectangle paste{between(0, target.view.width - 1) & ~1, between(0, target.view.height - 1) & ~1, 0, 0};
    paste.width = between(1, target.view.width - paste.left);
    paste.height = between(1, target.view.height - paste.top);
    ASSERT_TRUE(CropResizePaste(source.view, crop, target.view, paste).ok());
    ASSERT_LE(LargestError(source.view, crop, target.view, paste), 1.0)
        << "crop " << crop.left << "," << crop.top << " " << crop.width << "x" << crop.height << " into " << paste.left
        << "," << paste.top << " " << paste.width << "x" << paste.height;
  }
}

TEST_P(EveryFormat, VectorPathsEqualTheScalarTwin) {
  std::mt19937 random(99);
  for (const Simd simd : {Simd::kAvx2, Simd::kAvx512}) {
    if (!CanRun(simd)) continue;
    for (int width = 1; width < 70; ++width) {
      const TestPicture source = MakeTestPicture(GetParam(), 2 + random() % 300, 2 + random() % 60, random());
      const TestPicture target = MakeTestPicture(GetParam(), width, 1 + random() % 20, random());
      TestPicture expected = target;
      expected.view.data = expected.bytes.data();
      const Rectangle crop{0, 0, source.view.width, source.view.height};
      const Rectangle paste{0, 0, target.view.width, target.view.height};
      ASSERT_TRUE(CropResizePaste(source.view, crop, target.view, paste, Interpolation::kBilinear, simd).ok());
      ASSERT_TRUE(
          CropResizePaste(source.view, crop, expected.view, paste, Interpolation::kBilinear, Simd::kScalar).ok());
      ASSERT_EQ(target.bytes, expected.bytes) << "width " << width;  // also: nothing beside the area was written
    }
  }
}

TEST_P(EveryFormat, CopiesWhenSizesAreEqual) {
  const TestPicture source = MakeTestPicture(GetParam(), 64, 48, 5);
  const TestPicture target = MakeTestPicture(GetParam(), 80, 60, 6);
  ASSERT_TRUE(CropResizePaste(source.view, {10, 6, 20, 14}, target.view, {16, 4, 20, 14}).ok());
  EXPECT_EQ(LargestError(source.view, {10, 6, 20, 14}, target.view, {16, 4, 20, 14}), 0.0);
}

TEST(CropResizePaste, AgreesWithOpenCvWithinOneLevel) {
  const TestPicture source = MakeTestPicture(PIXEL_FORMAT_RGB_888, 641, 359, 7);
  const TestPicture target = MakeTestPicture(PIXEL_FORMAT_RGB_888, 416, 233, 8);
  ASSERT_TRUE(CropResizePaste(source.view, {0, 0, 641, 359}, target.view, {0, 0, 416, 233}).ok());
  const cv::Mat from(359, 641, CV_8UC3, source.view.data, source.view.stride);
  const cv::Mat got(233, 416, CV_8UC3, target.view.data, target.view.stride);
  cv::Mat wanted;
  cv::resize(from, wanted, {416, 233}, 0, 0, cv::INTER_LINEAR);
  EXPECT_LE(cv::norm(wanted, got, cv::NORM_INF), 1.0);
}

TEST(CropResizePaste, Nv12AgreesWithOpenCvPerPlane) {
  const TestPicture source = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 1920, 1080, 7);
  const TestPicture target = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 416, 234, 8);
  ASSERT_TRUE(CropResizePaste(source.view, {0, 0, 1920, 1080}, target.view, {0, 0, 416, 234}).ok());
  for (int p = 0; p < 2; ++p) {
    const PlaneView from = source.view.Plane(p);
    const PlaneView into = target.view.Plane(p);
    cv::Mat wanted;
    cv::resize(cv::Mat(from.height, from.width, CV_8UC(from.channels), from.data, from.stride), wanted,
               {into.width, into.height}, 0, 0, cv::INTER_LINEAR);
    EXPECT_LE(cv::norm(wanted, cv::Mat(into.height, into.width, CV_8UC(into.channels), into.data, into.stride),
                       cv::NORM_INF),
              1.0);
  }
}

TEST(CropResizePaste, NearestTakesTheSampleUnderTheCentre) {
  const TestPicture source = MakeTestPicture(PIXEL_FORMAT_YUV_400, 9, 3, 1);
  const TestPicture target = MakeTestPicture(PIXEL_FORMAT_YUV_400, 3, 9, 2);
  ASSERT_TRUE(CropResizePaste(source.view, {0, 0, 9, 3}, target.view, {0, 0, 3, 9}, Interpolation::kNearest).ok());
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 3; ++x) {
      EXPECT_EQ(target.view.data[y * target.view.stride + x], source.view.data[y / 3 * source.view.stride + 3 * x + 1]);
    }
  }
}

TEST(CropResizePaste, RefusesWhatCannotBe) {
  const TestPicture source = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 32, 1);
  const TestPicture target = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 32, 32, 2);
  const TestPicture rgb = MakeTestPicture(PIXEL_FORMAT_RGB_888, 32, 32, 2);
  const TestPicture other = MakeTestPicture(PIXEL_FORMAT_YUV_400, 32, 32, 2);
  PictureView unknown = other.view;
  unknown.format = PIXEL_FORMAT_HSV_888_PLANAR;
  const Rectangle whole{0, 0, 32, 32};
  const auto code = [](const Status& status) { return status.code(); };
  EXPECT_EQ(code(CropResizePaste(source.view, {0, 0, 33, 32}, target.view, whole)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(CropResizePaste(source.view, {0, 0, 0, 32}, target.view, whole)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(CropResizePaste(source.view, whole, target.view, {16, 0, 17, 32})), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(CropResizePaste(source.view, whole, target.view, {0, 3, 8, 8})), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(CropResizePaste(source.view, whole, rgb.view, whole)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(CropResizePaste(unknown, whole, unknown, whole)), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace npustream::dvpp
