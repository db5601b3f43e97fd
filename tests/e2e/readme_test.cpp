// What the README tells people to copy works as written, in both languages.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/e2e/summary.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::e2e {
namespace {

using testing_support::RunShell;
using testing_support::TemporaryFolder;

class Readme : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { text_ = *ReadTextFile(std::filesystem::path(NPUSTREAM_SOURCE_DIR) / GetParam()); }

  // The first match's first group.
  std::string Find(const std::string& pattern) const {
    std::smatch match;
    return std::regex_search(text_, match, std::regex(pattern)) ? match[1].str() : std::string();
  }

  std::string text_;
};

TEST_P(Readme, GstLaunchLineRunsAsWritten) {
  const std::string line = Find("\n(gst-launch-1\\.0 [^\n]*)");
  ASSERT_FALSE(line.empty());
  const TemporaryFolder folder;
  const auto run = RunShell("cd '" + folder.path().string() +
                            "' && gst-launch-1.0 -q videotestsrc num-buffers=12 ! video/x-raw,width=320,height=240 ! "
                            "x264enc tune=zerolatency ! mp4mux ! filesink location=clip.mp4 && " + line);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(ReadJsonLines(folder.path() / "out.jsonl").size(), 12u);
}

TEST_P(Readme, CamerasFileIsValid) {
  const std::string yaml = Find("```yaml\n([^`]*)```");
  ASSERT_FALSE(yaml.empty());
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "cameras.yaml") << yaml;
  const auto run = RunShell("cd '" + folder.path().string() + "' && YARD_PASSWORD=x npustream check -c cameras.yaml");
  EXPECT_EQ(run.exit_code, 0) << run.output;
}

INSTANTIATE_TEST_SUITE_P(Languages, Readme, testing::Values("README.md", "README.zh.md"), [](const auto& info) {
  return std::string(info.param) == "README.md" ? "English" : "Chinese";
});

}  // namespace
}  // namespace npustream::e2e
