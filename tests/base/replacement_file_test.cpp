#include "base/replacement_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace npustream {
namespace {

namespace fs = std::filesystem;

bool WriteText(const ReplacementFile& file, const std::string& text) {
  return write(file.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ReplacementFile, AppearsWithCommitAndReplacesWhatWasThere) {
  const testing_support::TemporaryFolder folder;
  const fs::path target = folder.path() / "out";
  for (const char* text : {"first", "second"}) {
    auto file = ReplacementFile::Create(target);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(WriteText(*file, text));
    EXPECT_NE(ReadText(target), text);
    ASSERT_TRUE(file->Commit().ok());
    EXPECT_EQ(ReadText(target), text);
    EXPECT_EQ(FilesIn(folder.path()), 1u);
  }
}

TEST(ReplacementFile, LeavesNothingWithoutCommit) {
  const testing_support::TemporaryFolder folder;
  { ASSERT_TRUE(ReplacementFile::Create(folder.path() / "out").ok()); }
  EXPECT_EQ(FilesIn(folder.path()), 0u);
}

// Like after SIGKILL, no destructor runs.
TEST(ReplacementFile, LeavesNothingOfAProcessThatDies) {
  const testing_support::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    auto file = ReplacementFile::Create(folder.path() / "out");
    _exit(file.ok() && WriteText(*file, "half") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(FilesIn(folder.path()), 0u);
}

TEST(ReplacementFile, NamesTheFolderThatIsNotThere) {
  const auto file = ReplacementFile::Create("/nothing/out");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().message(), "/nothing/out: cannot create: No such file or directory");
}

}  // namespace
}  // namespace npustream
