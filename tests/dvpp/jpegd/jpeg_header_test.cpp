#include "dvpp/jpegd/jpeg_header.h"

#include <gtest/gtest.h>

namespace npustream::dvpp {
namespace {

// SOI, a comment, a frame header of 300 × 200 with three components and luma's sampling factors.
std::vector<uint8_t> Header(uint8_t marker, uint8_t luma_sampling) {
  return {0xff, 0xd8, 0xff, 0xfe, 0, 4, 'h', 'i', 0xff, marker, 0, 17, 8, 0, 200, 1, 44, 3,
          1,    luma_sampling, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xda, 0, 2};
}

TEST(JpegHeader, ReadsSizeAndSampling) {
  const Result<JpegHeader> header = ReadJpegHeader(Header(0xc0, 0x22));
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(header->width, 300);
  EXPECT_EQ(header->height, 200);
  EXPECT_EQ(header->components, 3);
  EXPECT_EQ(header->format, ACL_JPEG_CSS_420);
  EXPECT_FALSE(header->progressive);
  EXPECT_EQ(ReadJpegHeader(Header(0xc0, 0x11))->format, ACL_JPEG_CSS_444);
  EXPECT_EQ(ReadJpegHeader(Header(0xc0, 0x21))->format, ACL_JPEG_CSS_422);
  EXPECT_EQ(ReadJpegHeader(Header(0xc0, 0x12))->format, ACL_JPEG_CSS_440);
  EXPECT_EQ(ReadJpegHeader(Header(0xc0, 0x41))->format, ACL_JPEG_CSS_411);
  EXPECT_EQ(ReadJpegHeader(Header(0xc0, 0x33))->format, ACL_JPEG_CSS_UNKNOWN);
  EXPECT_TRUE(ReadJpegHeader(Header(0xc2, 0x22))->progressive);
}

TEST(JpegHeader, RefusesWhatIsNone) {
  EXPECT_EQ(ReadJpegHeader({}).status().code(), StatusCode::kCorruptData);
  const std::vector<uint8_t> png = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
  EXPECT_EQ(ReadJpegHeader(png).status().code(), StatusCode::kCorruptData);
  EXPECT_EQ(ReadJpegHeader(Header(0xc9, 0x22)).status().code(), StatusCode::kUnsupported) << "arithmetic coding";
  std::vector<uint8_t> whole = Header(0xc0, 0x22);
  for (size_t size = 0; size < 27; ++size) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + size);
    EXPECT_FALSE(ReadJpegHeader(part).ok()) << size;
  }
  whole[13] = whole[14] = 0;
  EXPECT_EQ(ReadJpegHeader(whole).status().code(), StatusCode::kCorruptData) << "height 0";
}

}  // namespace
}  // namespace npustream::dvpp
