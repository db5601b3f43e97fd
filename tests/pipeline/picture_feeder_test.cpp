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

TEST(ListPictures, FindsPicturesWhateverTheirNames) {
  const testing_support::TemporaryFolder folder;
  std::ofstream(folder.path() / "scan.tif") << std::string_view("II*\0", 4);
  std::ofstream(folder.path() / "still") << "\x89PNG\r\n\x1A\n";
  std::ofstream(folder.path() / "labels") << "person\n";
  const auto pictures = ListPictures(folder.path());
  ASSERT_TRUE(pictures.ok());
  EXPECT_THAT(*pictures, testing::ElementsAre(folder.path() / "scan.tif", folder.path() / "still"));
}

TEST(ListPictures, SaysWhatIsMissing) {
  const testing_support::TemporaryFolder folder;
  EXPECT_THAT(ListPictures(folder.path()).status().message(), testing::HasSubstr("has no pictures"));
  EXPECT_THAT(ListPictures(folder.path() / "x").status().message(), testing::HasSubstr("does not exist"));
}

TEST(SourceKind, IsToldFromTheLocation) {
  const testing_support::TemporaryFolder folder;
  EXPECT_EQ(SourceKindOf("rtsp://host/1"), SourceKind::kUri);
  EXPECT_EQ(SourceKindOf("file:///a/b.mp4"), SourceKind::kFile);
  EXPECT_EQ(PathOfSource("file:///a/b.mp4"), "/a/b.mp4");
  EXPECT_EQ(SourceKindOf("a/b.mp4"), SourceKind::kFile);
  EXPECT_EQ(SourceKindOf("a/b.JPG"), SourceKind::kFile) << "there is none";
  std::ofstream(folder.path() / "picture") << "\x89PNG\r\n\x1A\n";
  std::ofstream(folder.path() / "film.jpg") << "RIFF\1\2\3\4AVI ";
  EXPECT_EQ(SourceKindOf(folder.path() / "picture"), SourceKind::kPictures);
  EXPECT_EQ(SourceKindOf(folder.path() / "film.jpg"), SourceKind::kFile);
  EXPECT_EQ(SourceKindOf(folder.path()), SourceKind::kPictures);
}

}  // namespace
}  // namespace npustream::pipeline
