#include "pipeline/config/picture_type.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

using namespace std::string_literals;

// A 40-byte header behind the 14 bytes of the file header.
const std::string kBmp = "BM"s + std::string(12, '\1') + "\x28\0\0\0"s + std::string(36, '\0');

// First bytes from the formats' specifications (ITU-T T.81, PNG, RFC 9649, BMP, TIFF 6.0, ISO 15444-1, Netpbm).
TEST(PictureMediaType, ComesFromTheContentNotTheName) {
  EXPECT_STREQ(PictureMediaType("\xFF\xD8\xFF\xE0"), "image/jpeg");
  EXPECT_STREQ(PictureMediaType("\x89PNG\r\n\x1A\n"), "image/png");
  EXPECT_STREQ(PictureMediaType("RIFF\1\2\3\4WEBPVP8 "), "image/webp");
  EXPECT_STREQ(PictureMediaType(kBmp), "image/bmp");
  EXPECT_STREQ(PictureMediaType("GIF89a\1\0\1\0"s), "image/gif");
  EXPECT_STREQ(PictureMediaType("II*\0\x08\0\0\0"s), "image/tiff");
  EXPECT_STREQ(PictureMediaType("MM\0*\0\0\0\x08"s), "image/tiff");
  EXPECT_STREQ(PictureMediaType("\0\0\0\x0CjP  \r\n\x87\n"s), "image/jp2");
  EXPECT_STREQ(PictureMediaType("P6\n2 2\n255\n"), "image/x-portable-anymap");
  EXPECT_EQ(PictureMediaType("RIFF\1\2\3\4AVI "), nullptr);
  EXPECT_EQ(PictureMediaType("RIF"), nullptr);
  EXPECT_EQ(PictureMediaType("BMW drives past the gate"), nullptr);
  EXPECT_EQ(PictureMediaType("P6x"), nullptr);
  EXPECT_EQ(PictureMediaType(""), nullptr);
}

// T.81, B.1.1.3: markers; in entropy-coded data 0xFF is followed by a zero.
TEST(PictureMediaType, JpegsOneAfterTheOtherAreNoPicture) {
  const std::string scan = "\xFF\xDA\0\2\x12\xFF\0\xD9\xFF\xD0\x34"s;
  const std::string picture = "\xFF\xD8\xFF\xE0\0\4ab"s + scan + scan + "\xFF\xD9";
  EXPECT_STREQ(PictureMediaType(picture), "image/jpeg");
  EXPECT_STREQ(PictureMediaType(picture + "a trailer"), "image/jpeg");
  EXPECT_EQ(PictureMediaType(picture + picture), nullptr);
  // CIPA DC-007: the picture announces those behind it.
  const std::string announced = "\xFF\xD8\xFF\xE2\0\6MPF\0"s + scan + "\xFF\xD9";
  EXPECT_STREQ(PictureMediaType(announced + picture), "image/jpeg");
}

TEST(PictureMediaType, EveryTruncationIsRead) {
  const std::string jpeg = "\xFF\xD8\xFF\xE0\0\4ab\xFF\xDA\0\2\x12\xFF\0\x34\xFF\xD9\xFF\xD8\xFF"s;
  for (size_t size = 0; size < kBmp.size(); ++size) (void)PictureMediaType(std::string_view(kBmp).substr(0, size));
  for (size_t size = 0; size < jpeg.size(); ++size) (void)PictureMediaType(std::string_view(jpeg).substr(0, size));
}

TEST(IsPictureFile, LooksIntoTheFile) {
  const testing_support::TemporaryFolder folder;
  std::ofstream(folder.path() / "picture.dat") << kBmp;
  std::ofstream(folder.path() / "film.jpg") << "RIFF\1\2\3\4AVI ";
  EXPECT_TRUE(IsPictureFile(folder.path() / "picture.dat"));
  EXPECT_FALSE(IsPictureFile(folder.path() / "film.jpg"));
  EXPECT_FALSE(IsPictureFile(folder.path() / "nothing"));
  EXPECT_FALSE(IsPictureFile(folder.path()));
}

TEST(IsMotionJpegFile, LooksIntoTheFile) {
  const testing_support::TemporaryFolder folder;
  const std::string picture = "\xFF\xD8\xFF\xDA\0\2\x12\xFF\xD9"s;
  std::ofstream(folder.path() / "one") << picture;
  std::ofstream(folder.path() / "two") << picture + picture;
  EXPECT_FALSE(IsMotionJpegFile(folder.path() / "one"));
  EXPECT_TRUE(IsMotionJpegFile(folder.path() / "two"));
  EXPECT_FALSE(IsPictureFile(folder.path() / "two"));
  EXPECT_FALSE(IsMotionJpegFile(folder.path() / "nothing"));
}

}  // namespace
}  // namespace npustream::pipeline
