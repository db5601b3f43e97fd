#include "pipeline/camera/picture_feeder.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/source_kind.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

TEST(ListPictures, AreThoseOfTheFolderByName) {
  const testing_support::TemporaryFolder folder;
  for (const char* name : {"b.jpg", "a.PNG", "c.txt", "10.webp", "9.bmp"}) std::ofstream(folder.path() / name) << "x";
  std::filesystem::create_directory(folder.path() / "d.jpg");
  const auto pictures = ListPictures(folder.path());
  ASSERT_TRUE(pictures.ok());
  std::vector<std::string> names;
  for (const auto& picture : *pictures) names.push_back(picture.filename());
  EXPECT_THAT(names, testing::ElementsAre("10.webp", "9.bmp", "a.PNG", "b.jpg"));
}

TEST(ListPictures, SaysWhatIsMissing) {
  const testing_support::TemporaryFolder folder;
  EXPECT_THAT(ListPictures(folder.path()).status().message(), testing::HasSubstr("has no pictures"));
  EXPECT_THAT(ListPictures(folder.path() / "x").status().message(), testing::HasSubstr("does not exist"));
}

// First bytes from the formats' specifications (ITU-T T.81, PNG, RFC 9649, BMP).
TEST(PictureMediaType, ComesFromTheContentNotTheName) {
  EXPECT_STREQ(PictureMediaType("\xFF\xD8\xFF\xE0"), "image/jpeg");
  EXPECT_STREQ(PictureMediaType("\x89PNG\r\n\x1A\n"), "image/png");
  EXPECT_STREQ(PictureMediaType("RIFF\1\2\3\4WEBPVP8 "), "image/webp");
  EXPECT_STREQ(PictureMediaType("BM"), "image/bmp");
  EXPECT_EQ(PictureMediaType("RIFF\1\2\3\4AVI "), nullptr);
  EXPECT_EQ(PictureMediaType("RIF"), nullptr);
  EXPECT_EQ(PictureMediaType(""), nullptr);
}

TEST(SourceKind, IsToldFromTheLocation) {
  const testing_support::TemporaryFolder folder;
  EXPECT_EQ(SourceKindOf("rtsp://host/1"), SourceKind::kUri);
  EXPECT_EQ(SourceKindOf("file:///a/b.mp4"), SourceKind::kFile);
  EXPECT_EQ(PathOfSource("file:///a/b.mp4"), "/a/b.mp4");
  EXPECT_EQ(SourceKindOf("a/b.mp4"), SourceKind::kFile);
  EXPECT_EQ(SourceKindOf("a/b.JPG"), SourceKind::kPictures);
  EXPECT_EQ(SourceKindOf(folder.path()), SourceKind::kPictures);
}

}  // namespace
}  // namespace npustream::pipeline
