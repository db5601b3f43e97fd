#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <span>
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

TEST_F(FileTest, ReadUpToTakesPipesAndEndlessDevices) {
  const fs::path path = folder_ / "x";
  ASSERT_TRUE(WriteFileAtomically(path, "one two").ok());
  EXPECT_EQ(*ReadUpTo(path, 100), "one two");
  EXPECT_EQ(*ReadUpTo(path, 3), "one");
  EXPECT_EQ(*ReadUpTo("/dev/zero", 70'000), std::string(70'000, '\0'));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "piped", 5), 5);
  close(ends[1]);
  EXPECT_EQ(*ReadUpTo("/dev/fd/" + std::to_string(ends[0]), 100), "piped");
  close(ends[0]);
  EXPECT_NE(ReadUpTo(folder_, 1).status().message().find("cannot read: Is a directory"), std::string::npos);
  EXPECT_EQ(ReadUpTo(folder_ / "absent", 1).status().code(), StatusCode::kNotFound);
}

TEST_F(FileTest, AtomicWriteReplacesAndLeavesNothingElse) {
  const fs::path path = folder_ / "sub" / "x";
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "two").ok());
  EXPECT_EQ(*ReadTextFile(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 1);
}

TEST_F(FileTest, AtomicWriteFollowsALink) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "target", "one").ok());
  fs::create_symlink("target", folder_ / "link");
  ASSERT_TRUE(WriteFileAtomically(folder_ / "link", "two").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*ReadTextFile(folder_ / "target"), "two");
}

TEST_F(FileTest, AtomicWriteLeavesAPipeAPipe) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(WriteFileAtomically(pipe, "through").ok());
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(FileTest, AtomicWriteToAFolderIsRefused) {
  EXPECT_EQ(WriteFileAtomically(folder_, "text").code(), StatusCode::kInvalidArgument);
}

TEST_F(FileTest, ANewFileHasNoNameUntilItIsCommitted) {
  auto file = NewFile::Create(folder_ / "sub" / "x");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write(std::as_bytes(std::span("one", 3))).ok());
  EXPECT_TRUE(fs::is_empty(folder_ / "sub"));
  EXPECT_EQ(*ReadTextFile(file->WorkPath()), "one");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*ReadTextFile(folder_ / "sub" / "x"), "one");
}

TEST_F(FileTest, ANewFileThatIsGivenUpLeavesTheOldOne) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "x", "old").ok());
  {
    auto file = NewFile::Create(folder_ / "x");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(std::as_bytes(std::span("new", 3))).ok());
  }
  EXPECT_EQ(*ReadTextFile(folder_ / "x"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(FileTest, ANewFileNeverTakesThePlaceOfAPipeOrAFolder) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", folder_ / "link");
  for (const fs::path& path : {pipe, folder_ / "link", folder_}) {
    EXPECT_EQ(NewFile::Create(path).status().code(), StatusCode::kInvalidArgument) << path;
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(FileTest, AProcessThatIsKilledLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    auto file = NewFile::Create(folder_ / "x");
    if (file.ok()) (void)file->Write(std::as_bytes(std::span("half", 4)));
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(FileTest, EmptyFileMapsToNothing) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "empty", "").ok());
  EXPECT_TRUE(MappedFile::Open(folder_ / "empty")->bytes().empty());
}

}  // namespace
}  // namespace npustream
