#include "base/file.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace npustream {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "npustream_file_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FileTest, MissingFileIsNamed) {
  const auto opened = MappedFile::Open(folder_ / "absent");
  EXPECT_EQ(opened.status().code(), StatusCode::kNotFound);
  EXPECT_NE(opened.status().message().find("absent"), std::string::npos);
}

TEST_F(FileTest, FolderIsRefused) { EXPECT_FALSE(MappedFile::Open(folder_).ok()); }

TEST_F(FileTest, AtomicWriteReplacesAndLeavesNothingElse) {
  const fs::path path = folder_ / "sub" / "x";
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "two").ok());
  EXPECT_EQ(*ReadTextFile(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 1);
}

TEST_F(FileTest, EmptyFileMapsToNothing) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "empty", "").ok());
  EXPECT_TRUE(MappedFile::Open(folder_ / "empty")->bytes().empty());
}

}  // namespace
}  // namespace npustream
