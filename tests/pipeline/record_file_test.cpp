#include "pipeline/publish/record_file.h"

#include <filesystem>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(RecordFile, OnCommitAppearsAsAWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "sub" / "out.jsonl";
  {
    auto file = RecordFile::Open(path, RecordFile::Visibility::kOnCommit);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE((*file)->Write("one").ok());
    EXPECT_FALSE(fs::exists(path));
    ASSERT_TRUE((*file)->Commit().ok());
    EXPECT_EQ(*ReadTextFile(path), "one\n");
  }
  {
    auto file = RecordFile::Open(path, RecordFile::Visibility::kOnCommit);
    ASSERT_TRUE((*file)->Write("two").ok());
  }
  EXPECT_EQ(*ReadTextFile(path), "one\n");
  EXPECT_EQ(FilesIn(path.parent_path()), 1u) << "something was left behind";
}

TEST(RecordFile, AtOnceShowsWholeLines) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out.jsonl";
  auto file = RecordFile::Open(path, RecordFile::Visibility::kAtOnce);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Write("one").ok());
  EXPECT_EQ(*ReadTextFile(path), "one\n");
}

TEST(RecordFile, LinesOfSeveralThreadsStayWhole) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out.jsonl";
  auto file = RecordFile::Open(path, RecordFile::Visibility::kAtOnce);
  ASSERT_TRUE(file.ok());
  std::vector<std::thread> threads;
  for (char c : {'a', 'b', 'c'}) {
    threads.emplace_back([&, c] {
      for (int i = 0; i < 200; ++i) (void)(*file)->Write(std::string(100, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE((*file)->Commit().ok());
  const std::string text = *ReadTextFile(path);
  ASSERT_EQ(text.size(), 600u * 101);
  for (size_t line = 0; line < 600; ++line)
    EXPECT_EQ(text.substr(line * 101, 101), std::string(100, text[line * 101]) + "\n");
}

TEST(RecordFile, ErrorsNameTheFileAndTheReason) {
  const TemporaryFolder folder;
  const auto folder_given = RecordFile::Open(folder.path(), RecordFile::Visibility::kOnCommit);
  ASSERT_FALSE(folder_given.ok());
  EXPECT_THAT(folder_given.status().message(), testing::HasSubstr("it is a folder"));
  // A full disk: every write of /dev/full fails with ENOSPC.
  auto full = RecordFile::Open("/dev/full", RecordFile::Visibility::kOnCommit);
  ASSERT_TRUE(full.ok());
  (void)(*full)->Write("x");
  const Status status = (*full)->Commit();
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_THAT(status.message(), testing::HasSubstr("/dev/full: No space left on device"));
}

TEST(RecordFiles, OnePathIsOneFile) {
  const TemporaryFolder folder;
  RecordFiles files(RecordFile::Visibility::kAtOnce);
  const std::string path = folder.path() / "out.jsonl";
  EXPECT_EQ(*files.For(path), *files.For(path));
  EXPECT_EQ(*files.For(""), nullptr);
}

}  // namespace
}  // namespace npustream::pipeline
