#include "elements/preprocess/geometry.h"

#include <random>

#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

using serving::FitMode;
using serving::PictureFormat;

PixelRect Pasted(int width, int height, int model, FitMode fit, PictureFormat format) {
  return FitPicture(width, height, model, model, fit, format).pasted;
}

TEST(FitPicture, LetterboxesByTheSmallerScale) {
  // 416 / 768 · 576 = 312; 416 / 1280 · 720 = 234.
  EXPECT_EQ(Pasted(768, 576, 416, FitMode::kLetterbox, PictureFormat::kNv12), (PixelRect{0, 0, 416, 312}));
  EXPECT_EQ(Pasted(1280, 720, 416, FitMode::kLetterbox, PictureFormat::kNv12), (PixelRect{0, 0, 416, 234}));
  EXPECT_EQ(Pasted(720, 1280, 416, FitMode::kLetterbox, PictureFormat::kNv12), (PixelRect{0, 0, 234, 416}));
}

TEST(FitPicture, RoundsToEvenForNv12Only) {
  // 416 / 640 · 425 = 276.25; the next even numbers are 276 and 278.
  EXPECT_EQ(Pasted(640, 425, 416, FitMode::kLetterbox, PictureFormat::kNv12).height, 276);
  // 416 / 640 · 426 = 276.9
  EXPECT_EQ(Pasted(640, 426, 416, FitMode::kLetterbox, PictureFormat::kNv12).height, 276);
  EXPECT_EQ(Pasted(640, 426, 416, FitMode::kLetterbox, PictureFormat::kRgb888).height, 277);
  // 416 / 640 · 427 = 277.55
  EXPECT_EQ(Pasted(640, 427, 416, FitMode::kLetterbox, PictureFormat::kNv12).height, 278);
}

TEST(FitPicture, CentresOnTheStepsOfThePasteEngine) {
  // (416 − 234) / 2 = 91: columns on the multiple of 16 below (80), rows on the even number below (90).
  EXPECT_EQ(Pasted(720, 1280, 416, FitMode::kLetterboxCenter, PictureFormat::kNv12), (PixelRect{80, 0, 234, 416}));
  EXPECT_EQ(Pasted(1280, 720, 416, FitMode::kLetterboxCenter, PictureFormat::kNv12), (PixelRect{0, 90, 416, 234}));
}

TEST(FitPicture, StretchesOverTheWholeInput) {
  EXPECT_EQ(Pasted(500, 333, 320, FitMode::kStretch, PictureFormat::kRgb888), (PixelRect{0, 0, 320, 320}));
}

TEST(FitPicture, LeavesOutTheLastOddColumnAndRowOfNv12) {
  const PictureTransform nv12 = FitPicture(641, 359, 416, 416, FitMode::kLetterbox, PictureFormat::kNv12);
  EXPECT_EQ(nv12.source, (PixelRect{0, 0, 640, 358}));
  const PictureTransform rgb = FitPicture(641, 359, 416, 416, FitMode::kLetterbox, PictureFormat::kRgb888);
  EXPECT_EQ(rgb.source, (PixelRect{0, 0, 641, 359}));
}

TEST(FitPicture, KeepsTwoPixelsOfAnExtremeAspect) {
  // 17 · 416 / 3840 = 1.8
  EXPECT_EQ(Pasted(17, 3840, 416, FitMode::kLetterbox, PictureFormat::kNv12), (PixelRect{0, 0, 2, 416}));
}

TEST(PictureTransform, BringsTheCornersOfThePasteToTheCornersOfTheFrame) {
  const PictureTransform transform = FitPicture(720, 1280, 416, 416, FitMode::kLetterboxCenter, PictureFormat::kNv12);
  const Box frame = transform.ToFrame(Box{80, 0, 314, 416});
  EXPECT_FLOAT_EQ(frame.x_min, 0);
  EXPECT_FLOAT_EQ(frame.y_min, 0);
  EXPECT_FLOAT_EQ(frame.x_max, 720);
  EXPECT_FLOAT_EQ(frame.y_max, 1280);
  const Landmark middle = transform.ToFrame(Landmark{197, 208});
  EXPECT_FLOAT_EQ(middle.x, 360);
  EXPECT_FLOAT_EQ(middle.y, 640);
}

TEST(PictureTransform, ClipsToTheFrame) {
  const PictureTransform transform = FitPicture(100, 50, 64, 64, FitMode::kStretch, PictureFormat::kNv12);
  const Box clipped = transform.ClipToFrame({-3, 10, 120, 60});
  EXPECT_FLOAT_EQ(clipped.x_min, 0);
  EXPECT_FLOAT_EQ(clipped.y_min, 10);
  EXPECT_FLOAT_EQ(clipped.x_max, 100);
  EXPECT_FLOAT_EQ(clipped.y_max, 50);
}

TEST(PictureTransform, IsItsOwnInverseWithinHalfAPixel) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> size(10, 4096);
  std::uniform_int_distribution<int> kind(0, 5);
  for (int round = 0; round < 2000; ++round) {
    const int width = size(random), height = size(random), choice = kind(random);
    const PictureTransform transform = FitPicture(width, height, 416, 320, static_cast<FitMode>(choice % 3),
                                                  choice < 3 ? PictureFormat::kNv12 : PictureFormat::kRgb888);
    std::uniform_real_distribution<float> x(0, static_cast<float>(width)), y(0, static_cast<float>(height));
    const Box box{x(random), y(random), x(random), y(random)};
    const Box back = transform.ToFrame(transform.ToModel(box));
    ASSERT_NEAR(back.x_min, box.x_min, 0.5f) << width << "x" << height;
    ASSERT_NEAR(back.y_min, box.y_min, 0.5f) << width << "x" << height;
    ASSERT_NEAR(back.x_max, box.x_max, 0.5f) << width << "x" << height;
    ASSERT_NEAR(back.y_max, box.y_max, 0.5f) << width << "x" << height;
    const PixelRect& place = transform.pasted;
    ASSERT_GE(place.left, 0);
    ASSERT_GE(place.top, 0);
    ASSERT_LE(place.left + place.width, 416);
    ASSERT_LE(place.top + place.height, 320);
    ASSERT_EQ(place.left % 16, 0);
    ASSERT_EQ(place.top % 2, 0);
  }
}

// The 310P's VPC: 10x6 to 8192x8192, 1/32 to 16.
TEST(MediaEngineLimits, NameWhatIsBeyondThem) {
  const auto message = [](int width, int height, const FrameRegion& region = {}) {
    return CheckMediaEngineLimits(
               FitPicture(width, height, 416, 416, FitMode::kStretch, PictureFormat::kNv12, region))
        .message();
  };
  EXPECT_EQ(message(8192, 26), "");
  EXPECT_EQ(message(8193, 100), "frames of 8193x100 pixels are beyond the media engine's limits, 10x6 to 8192x8192");
  EXPECT_EQ(message(8, 100), "frames of 8x100 pixels are beyond the media engine's limits, 10x6 to 8192x8192");
  EXPECT_EQ(message(24, 100),
            "frames of 24x100 pixels cannot be scaled to 416x416: the media engine scales by 1/32 to 16");
  EXPECT_EQ(message(1920, 1080, {0, 0, 0.01, 0.5}),
            "the region of 18x540 pixels in frames of 1920x1080 cannot be scaled to 416x416: the media engine scales by "
            "1/32 to 16");
}

// ITU-R BT.601: luma 16 … 235, chroma 16 … 240 about 128.
TEST(NarrowRange, HasTheEndsOfBt601) {
  EXPECT_EQ(NarrowRangeLuma(0), 16);
  EXPECT_EQ(NarrowRangeLuma(255), 235);
  EXPECT_EQ(NarrowRangeLuma(114), 114);  // 16 + 114 · 219 / 255 = 113.9
  EXPECT_EQ(NarrowRangeChroma(128), 128);
  EXPECT_EQ(NarrowRangeChroma(0), 16);     // 15.6
  EXPECT_EQ(NarrowRangeChroma(255), 240);  // 239.6
}

}  // namespace
}  // namespace npustream::elements
