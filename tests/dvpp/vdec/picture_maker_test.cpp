#include "dvpp/vdec/picture_maker.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/file.h"
#include "dvpp/vdec/decoder.h"
#include "tests/dvpp/vdec/host_block_source.h"
#include "tests/support/test_data.h"

namespace npustream::dvpp {
namespace {

constexpr uint32_t kFullRange = 1 << 8;

// A frame in libav's own memory whose plane p holds value(p, x, y) at byte x of row y.
AvFrame MakeFrame(AVPixelFormat format, int width, int height, const std::function<int(int, int, int)>& value) {
  AvFrame frame(av_frame_alloc());
  frame->format = format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 64), 0);
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(format);
  for (int p = 0; p < 4 && frame->data[p] != nullptr; ++p) {
    const int rows = p == 1 || p == 2 ? -(-height >> description->log2_chroma_h) : height;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < frame->linesize[p]; ++x) {
        frame->data[p][y * frame->linesize[p] + x] = static_cast<uint8_t>(value(p, x, y));
      }
    }
  }
  return frame;
}

class PictureMakerTest : public testing::Test {
 protected:
  Result<DecodedPicture> Make(AVFrame& frame, acldvppPixelFormat format = PIXEL_FORMAT_YUV_SEMIPLANAR_420,
                              AVCodecID codec = AV_CODEC_ID_H264) {
    return PictureMaker(format, codec, pool_).Make(frame);
  }
  static int Luma(const DecodedPicture& picture, int x, int y) {
    return picture.view.data[y * picture.view.stride + x];
  }
  static int Chroma(const DecodedPicture& picture, int x, int y, int channel) {
    const PlaneView pairs = picture.view.Plane(1);
    return pairs.data[y * pairs.stride + 2 * x + channel];
  }

  std::shared_ptr<FramePool> pool_ = FramePool::Create(std::make_shared<HostBlockSource>());
};

TEST_F(PictureMakerTest, TenBitsBecomeEight) {
  // 16-bit little-endian samples: luma 4 · (x + y) + 1 of 1023.
  const AvFrame frame = MakeFrame(AV_PIX_FMT_YUV420P10LE, 66, 34, [](int p, int x, int y) {
    const int sample = p == 0 ? 4 * (x / 2 + y) + 1 : 4 * (p == 1 ? 90 : 160);
    return x % 2 == 0 ? sample & 255 : sample >> 8;
  });
  const auto picture = Make(*frame);
  ASSERT_TRUE(picture.ok());
  for (int y = 0; y < 34; ++y) {
    for (int x = 0; x < 66; ++x) ASSERT_NEAR(Luma(*picture, x, y), x + y, 1);
  }
  EXPECT_NEAR(Chroma(*picture, 3, 3, 0), 90, 1);
  EXPECT_NEAR(Chroma(*picture, 3, 3, 1), 160, 1);
  EXPECT_EQ(picture->colour & kFullRange, 0u);
}

TEST_F(PictureMakerTest, RgbBecomesNarrowBt601) {
  const auto channel = [](int x, int y, int c) { return (c == 0 ? 3 * x : c == 1 ? 5 * y : 2 * (x + y)) & 255; };
  const AvFrame frame = MakeFrame(AV_PIX_FMT_RGB24, 64, 48, [&](int, int x, int y) { return channel(x / 3, y, x % 3); });
  const auto picture = Make(*frame, PIXEL_FORMAT_YUV_SEMIPLANAR_420, AV_CODEC_ID_PNG);
  ASSERT_TRUE(picture.ok());
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      // ITU-R BT.601: Y = 16 + 219 · (0.299 R + 0.587 G + 0.114 B) / 255
      const double wanted =
          16 + 219 * (0.299 * channel(x, y, 0) + 0.587 * channel(x, y, 1) + 0.114 * channel(x, y, 2)) / 255;
      ASSERT_NEAR(Luma(*picture, x, y), wanted, 1.0) << x << "," << y;
    }
  }
  EXPECT_EQ(picture->colour & 0x1ff, static_cast<uint32_t>(AVCOL_SPC_SMPTE170M));
}

TEST_F(PictureMakerTest, GreyHasNeutralChromaAndPicturesUseTheWholeRange) {
  const AvFrame frame = MakeFrame(AV_PIX_FMT_GRAY8, 33, 9, [](int, int x, int y) { return 7 * x + y; });
  const auto picture = Make(*frame, PIXEL_FORMAT_YUV_SEMIPLANAR_420, AV_CODEC_ID_PNG);
  ASSERT_TRUE(picture.ok());
  EXPECT_EQ(Luma(*picture, 32, 8), (7 * 32 + 8) & 255);
  EXPECT_EQ(Chroma(*picture, 16, 4, 0), 128);
  EXPECT_EQ(Chroma(*picture, 16, 4, 1), 128);
  EXPECT_NE(picture->colour & kFullRange, 0u);
}

TEST_F(PictureMakerTest, AnOddCropIsExact) {
  const AvFrame frame = MakeFrame(AV_PIX_FMT_YUV444P, 40, 30, [](int p, int x, int y) { return 50 * p + 2 * x + y; });
  frame->crop_left = 3;
  frame->crop_top = 5;
  frame->crop_right = 2;
  frame->crop_bottom = 2;
  const auto picture = Make(*frame);
  ASSERT_TRUE(picture.ok());
  ASSERT_EQ(picture->view.width, 35);
  ASSERT_EQ(picture->view.height, 23);
  EXPECT_EQ(Luma(*picture, 0, 0), 2 * 3 + 5);
  EXPECT_EQ(Luma(*picture, 34, 22), 2 * 37 + 27);
  // (x, x + 1) × (y, y + 1) from (3, 5): the mean of 11, 13, 12, 14 is 12.5, rounded up.
  EXPECT_EQ(Chroma(*picture, 0, 0, 0), 50 + 13);
  EXPECT_EQ(Chroma(*picture, 0, 0, 1), 100 + 13);
}

TEST_F(PictureMakerTest, Nv21SwapsThePair) {
  const AvFrame frame = MakeFrame(AV_PIX_FMT_YUV420P, 16, 16, [](int p, int, int) { return 10 * p; });
  const auto picture = Make(*frame, PIXEL_FORMAT_YVU_SEMIPLANAR_420);
  ASSERT_TRUE(picture.ok());
  EXPECT_EQ(Chroma(*picture, 0, 0, 0), 20);
  EXPECT_EQ(Chroma(*picture, 0, 0, 1), 10);
}

TEST_F(PictureMakerTest, AnImpossibleCropIsRefused) {
  const AvFrame frame = MakeFrame(AV_PIX_FMT_YUV420P, 16, 16, [](int, int, int) { return 0; });
  frame->crop_left = 20;
  EXPECT_EQ(Make(*frame).status().code(), StatusCode::kCorruptData);
}

// RGB pictures of JPEG files against OpenCV's reader (libjpeg-turbo): decoders differ by rounding in the inverse
// transform, upsampling and conversion.
TEST_F(PictureMakerTest, JpegToRgbIsNearWhatOpenCvReads) {
  NPUSTREAM_TEST_DATA_OR_SKIP(folder, "images/coco_val128/images");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (++files > 24) break;
    const Result<MappedFile> file = MappedFile::Open(entry.path());
    ASSERT_TRUE(file.ok());
    const auto decoder = Decoder::Create({0x1002, PIXEL_FORMAT_BGR_888, 0, 0}, pool_);
    AvPacket packet(av_packet_alloc());
    ASSERT_EQ(av_new_packet(packet.get(), static_cast<int>(file->bytes().size())), 0);
    std::copy_n(reinterpret_cast<const uint8_t*>(file->bytes().data()), file->bytes().size(), packet->data);
    int pictures = 0;
    ASSERT_TRUE(decoder.value()
                    ->Decode(0, *packet,
                             [&](int64_t, Result<DecodedPicture> picture) {
                               ASSERT_TRUE(picture.ok());
                               ++pictures;
                               const cv::Mat wanted = cv::imread(entry.path().string(), cv::IMREAD_COLOR);
                               const PictureView& view = picture->view;
                               const cv::Mat got(view.height, view.width, CV_8UC3, view.data, view.stride);
                               ASSERT_EQ(wanted.size(), got.size());
                               EXPECT_LE(cv::norm(wanted, got, cv::NORM_INF), 3) << entry.path();
                               EXPECT_LE(cv::norm(wanted, got, cv::NORM_L1) / static_cast<double>(got.total() * 3), 0.1);
                             })
                    .ok());
    EXPECT_EQ(pictures, 1);
  }
}

}  // namespace
}  // namespace npustream::dvpp
