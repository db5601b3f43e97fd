// Odd and broken media, as a user would feed them: no crash, no hang, and no complaint about a file that is sound.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/summary.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace npustream::e2e {
namespace {

using testing_support::RunShell;
using testing_support::TemporaryFolder;

TEST(Robustness, EveryOddFileEndsOrderly) {
  NPUSTREAM_TEST_DATA_OR_SKIP(media, "robust");
  const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(media)) {
    const auto output = folder.path() / "out.jsonl";
    std::filesystem::remove(output);
    const auto run = RunShell("timeout 60 npustream detect --model coco-day --input '" + entry.path().string() +
                              "' --output '" + output.string() + "'");
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 1) << entry.path() << ": " << run.exit_code << "\n" << run.output;
    // Whatever gives no records is named: what cannot be decoded, and pictures that DVPP cannot scale (2x2 to 416x416).
    if (run.exit_code == 1 || ReadJsonLines(output).empty()) {
      EXPECT_NE(run.output.find(entry.path().filename().string()), std::string::npos) << run.output;
    }
    const std::string name = entry.path().filename();
    if (name.starts_with("gen_") && name != "gen_h264_2x2.mp4") {
      EXPECT_EQ(run.exit_code, 0) << name << ": " << run.output;
    }
  }
}

// /dev/full takes nothing; the device itself must survive, and what was there before as well.
TEST(Robustness, OutputsThatCannotBeWrittenEndTheWorkWithASentence) {
  const TemporaryFolder folder;
  const std::string made = (folder.path() / "picture.jpg").string();
  ASSERT_EQ(RunShell("gst-launch-1.0 -q videotestsrc num-buffers=1 ! jpegenc ! filesink location='" + made + "'").exit_code, 0);
  const auto full = RunShell("timeout 60 npustream detect --model coco-day --input '" + made + "' --output /dev/full");
  EXPECT_EQ(full.exit_code, 1) << full.output;
  EXPECT_NE(full.output.find("/dev/full"), std::string::npos) << full.output;
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(Robustness, AnOutputStaysAsItWasWhenNothingCouldBeRead) {
  const TemporaryFolder folder;
  const std::string empty = (folder.path() / "empty.jpg").string(), output = (folder.path() / "out.jsonl").string();
  const auto run = RunShell("touch '" + empty + "'; echo precious > '" + output + "'; npustream detect --model coco-day --input '" +
                            empty + "' --output '" + output + "'");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_EQ(RunShell("cat '" + output + "'").output, "precious\n");
}

TEST(Robustness, WhatIsReadIsNeverOverwritten) {
  const TemporaryFolder folder;
  const std::string at = "cd '" + folder.path().string() + "' && ";
  const auto detect = RunShell(at + "echo clip > same.avi && npustream detect --model coco-day --input same.avi --output ./same.avi; "
                               "code=$?; cat same.avi; exit $code");
  EXPECT_EQ(detect.exit_code, 1) << detect.output;
  EXPECT_NE(detect.output.find("would be overwritten"), std::string::npos) << detect.output;
  EXPECT_NE(detect.output.find("clip\n"), std::string::npos) << detect.output;
  const std::string yaml = "cameras: {one: {file: same.avi}}\noutputs: {records: cameras.yaml}\n";
  const auto check = RunShell(at + "printf '" + yaml + "' > cameras.yaml && npustream check -c cameras.yaml");
  EXPECT_EQ(check.exit_code, 2) << check.output;
}

TEST(Robustness, AModelWithoutAippIsRefusedForPictures) {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  const auto run = RunShell("cd '" + at + "' && atc --framework=5 --soc_version=Ascend310P3 --output=net --model='" +
                            NPUSTREAM_SOURCE_DIR "/configs/models/nanodet_g_416_day_int8w.onnx' >/dev/null && "
                            "gst-launch-1.0 -q videotestsrc num-buffers=1 ! jpegenc ! filesink location=picture.jpg && "
                            "npustream detect --model net.om --decoder nanodet --input picture.jpg --output out.jsonl");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_NE(run.output.find("insert_op_conf"), std::string::npos) << run.output;
}

TEST(Robustness, ForeignFilesGivenAsModelsAreNamed) {
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "model.om").string();
  const std::string picture = NPUSTREAM_SOURCE_DIR "/LICENSE";
  for (const char* content : {"", "GGUF\\3\\0\\0\\0", "just text", "OM\\0\\0cut short"}) {
    const auto run = RunShell("printf '" + std::string(content) + "' > '" + text + "'; npustream detect --model '" + text +
                              "' --decoder yolox --input '" + picture + "' --output '" + folder.path().string() +
                              "/out.jsonl'");
    EXPECT_EQ(run.exit_code, 1) << run.output;
    EXPECT_NE(run.output.find("model.om"), std::string::npos) << run.output;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out.jsonl")) << "half-written output";
  }
}

}  // namespace
}  // namespace npustream::e2e
