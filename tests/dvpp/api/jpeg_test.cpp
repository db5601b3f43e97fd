#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "tests/dvpp/api/acl_session.h"

namespace npustream::dvpp {
namespace {

// A grey ramp with a coloured part, as JPEG (4:2:0) of odd size.
std::vector<uint8_t> EncodeJpeg(bool progressive = false) {
  cv::Mat picture(77, 131, CV_8UC3);
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) picture.at<cv::Vec3b>(y, x) = cv::Vec3b(x, y, (x + y) / 2);
  }
  std::vector<uint8_t> bytes;
  cv::imencode(".jpg", picture, bytes, {cv::IMWRITE_JPEG_PROGRESSIVE, progressive ? 1 : 0});
  return bytes;
}

class JpegTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    channel_ = acldvppCreateChannelDesc();
    ASSERT_EQ(acldvppCreateChannel(channel_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    output_ = acldvppCreatePicDesc();
  }
  void TearDown() override {
    EXPECT_EQ(acldvppDestroyPicDesc(output_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(acldvppDestroyChannel(channel_), ACL_SUCCESS);
    EXPECT_EQ(acldvppDestroyChannelDesc(channel_), ACL_SUCCESS);
    AclTest::TearDown();
  }
  aclError Decode(const DeviceBytes& input, const DeviceBytes& target, acldvppPixelFormat format) {
    acldvppSetPicDescData(output_, target.data());
    acldvppSetPicDescSize(output_, target.size());
    acldvppSetPicDescFormat(output_, format);
    EXPECT_EQ(acldvppJpegDecodeAsync(channel_, input.data(), input.size(), output_, stream_), ACL_SUCCESS);
    return aclrtSynchronizeStream(stream_);
  }

  acldvppChannelDesc* channel_ = nullptr;
  aclrtStream stream_ = nullptr;
  acldvppPicDesc* output_ = nullptr;
};

TEST_F(JpegTest, TellsSizeAndBytes) {
  const std::vector<uint8_t> jpeg = EncodeJpeg();
  uint32_t width = 0, height = 0, bytes = 0;
  int32_t components = 0;
  acldvppJpegFormat format = ACL_JPEG_CSS_UNKNOWN;
  ASSERT_EQ(acldvppJpegGetImageInfoV2(jpeg.data(), jpeg.size(), &width, &height, &components, &format), ACL_SUCCESS);
  EXPECT_EQ(width, 131u);
  EXPECT_EQ(height, 77u);
  EXPECT_EQ(components, 3);
  EXPECT_EQ(format, ACL_JPEG_CSS_420);
  ASSERT_EQ(acldvppJpegPredictDecSize(jpeg.data(), jpeg.size(), PIXEL_FORMAT_YUV_SEMIPLANAR_420, &bytes), ACL_SUCCESS);
  EXPECT_EQ(bytes, 192u * 80 * 3 / 2);
  EXPECT_EQ(acldvppJpegPredictDecSize(jpeg.data(), jpeg.size(), PIXEL_FORMAT_YUV_SEMIPLANAR_444, &bytes),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppJpegGetImageInfo("text", 4, &width, &height, &components), ACL_ERROR_INVALID_PARAM);
}

TEST_F(JpegTest, DecodesToBgrNearOpenCv) {
  const std::vector<uint8_t> jpeg = EncodeJpeg();
  const DeviceBytes input(jpeg);
  const DeviceBytes target(192 * 3 * 80);
  ASSERT_EQ(Decode(input, target, PIXEL_FORMAT_BGR_888), ACL_SUCCESS);
  EXPECT_EQ(acldvppGetPicDescRetCode(output_), 0u);
  EXPECT_EQ(acldvppGetPicDescWidth(output_), 131u);
  EXPECT_EQ(acldvppGetPicDescHeight(output_), 77u);
  EXPECT_EQ(acldvppGetPicDescWidthStride(output_), 192u * 3);
  std::vector<uint8_t> bytes = target.Download();
  const cv::Mat got(77, 131, CV_8UC3, bytes.data(), 192 * 3);
  EXPECT_LE(cv::norm(cv::imdecode(jpeg, cv::IMREAD_COLOR), got, cv::NORM_INF), 3.0);
}

TEST_F(JpegTest, UnknownKeepsTheFormatAndStridesOfTheDescriptionAreUsed) {
  const DeviceBytes input(EncodeJpeg());
  const DeviceBytes target(144 * 78 * 3 / 2);
  acldvppSetPicDescWidthStride(output_, 144);
  acldvppSetPicDescHeightStride(output_, 78);
  ASSERT_EQ(Decode(input, target, PIXEL_FORMAT_UNKNOWN), ACL_SUCCESS);
  EXPECT_EQ(acldvppGetPicDescFormat(output_), PIXEL_FORMAT_YUV_SEMIPLANAR_420);
  EXPECT_EQ(acldvppGetPicDescWidthStride(output_), 144u);
}

TEST_F(JpegTest, WhatCannotBeDecodedFailsTheStreamAndTheNextWorks) {
  const DeviceBytes noise(std::vector<uint8_t>(3000, 0x55));
  const DeviceBytes progressive(EncodeJpeg(true));
  const DeviceBytes good(EncodeJpeg());
  const DeviceBytes target(192 * 80 * 3 / 2);
  const DeviceBytes small(1000);
  EXPECT_NE(Decode(noise, target, PIXEL_FORMAT_YUV_SEMIPLANAR_420), ACL_SUCCESS);
  EXPECT_EQ(acldvppGetPicDescRetCode(output_), 1u);
  EXPECT_NE(Decode(progressive, target, PIXEL_FORMAT_YUV_SEMIPLANAR_420), ACL_SUCCESS);
  EXPECT_NE(Decode(good, small, PIXEL_FORMAT_YUV_SEMIPLANAR_420), ACL_SUCCESS);
  EXPECT_EQ(Decode(good, target, PIXEL_FORMAT_YUV_SEMIPLANAR_420), ACL_SUCCESS);
  EXPECT_EQ(acldvppGetPicDescRetCode(output_), 0u);
}

}  // namespace
}  // namespace npustream::dvpp
