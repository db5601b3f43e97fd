#include "pipeline/config/check_outputs.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

using testing::HasSubstr;

class CheckOutputsTest : public testing::Test {
 protected:
  CheckOutputsTest() {
    config_.file = Make("cameras.yaml");
    CameraConfig camera;
    camera.name = "a";
    camera.kind = SourceKind::kFile;
    camera.location = Make("a.mp4");
    config_.cameras.push_back(camera);
    config_.outputs.records = Path("records.jsonl");
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string Make(const std::string& name) const {
    std::ofstream(Path(name)) << "content";
    return Path(name);
  }
  std::string Sentence() const { return CheckOutputs(config_).message(); }

  testing_support::TemporaryFolder folder_;
  RunConfig config_;
};

TEST_F(CheckOutputsTest, NothingThatIsReadIsWritten) {
  EXPECT_EQ(Sentence(), "");
  for (std::string* output : {&config_.outputs.records, &config_.outputs.video, &config_.outputs.summary}) {
    const std::string before = *output;
    *output = Path("a.mp4");
    EXPECT_THAT(Sentence(), HasSubstr("a.mp4 is read as"));
    *output = Path("./cameras.yaml");
    EXPECT_THAT(Sentence(), HasSubstr("cameras.yaml and would be overwritten"));
    *output = before;
  }
}

TEST_F(CheckOutputsTest, TwoOutputsAreTwoFiles) {
  config_.outputs.summary = Path("records.jsonl");
  EXPECT_THAT(Sentence(), HasSubstr("cannot be both records and summary"));
  config_.outputs.summary = Path("out.mp4");
  config_.outputs.video = Path("./out.mp4");
  EXPECT_THAT(Sentence(), HasSubstr("cannot be both video and summary"));
  config_.outputs.summary = Path("summary.json");
  EXPECT_EQ(Sentence(), "");
}

}  // namespace
}  // namespace npustream::pipeline
