// npustream detect as a user meets it: what counts as a picture, which exit code, which sentence.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::ProgramRun;
using testing_support::RunShell;

class DetectCommand : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }
  void Make(const std::string& name, const std::string& source, const std::string& encoder) const {
    const auto run = RunShell("gst-launch-1.0 -q videotestsrc " + source + " ! " + encoder + " ! filesink location='" +
                              At(name) + "'");
    ASSERT_EQ(run.exit_code, 0) << run.output;
  }
  ProgramRun Run(const std::string& input, const std::string& more = "--model coco-day") const {
    return RunShell("cd '" + folder_.path().string() + "' && timeout 60 npustream detect " + more + " --input '" + input +
                    "' --output out.jsonl");
  }

  const testing_support::TemporaryFolder folder_;
};

TEST_F(DetectCommand, PicturesAndFilmsAreToldByTheirContent) {
  Make("picture", "num-buffers=1", "pngenc");
  Make("film.jpg", "num-buffers=3 ! video/x-raw,width=64,height=48", "jpegenc ! avimux");
  Make("jpegs", "num-buffers=3 ! video/x-raw,width=64,height=48", "jpegenc");
  EXPECT_THAT(Run("picture").output, HasSubstr("frames: 1, records: 1 in"));
  EXPECT_THAT(Run("film.jpg").output, HasSubstr("frames: 3, records: 3 in"));
  EXPECT_THAT(Run("jpegs").output, HasSubstr("frames: 3, records: 3 in"));
}

// TIFF 6.0, sections 2 and 7: a grey picture of 16x8 with a ResolutionUnit (296), which readers may skip.
TEST_F(DetectCommand, TiffWithTagsThatNobodyNeedsIsRead) {
  const int entries[][2] = {{256, 16}, {257, 8}, {258, 8}, {259, 1}, {262, 1}, {273, 134}, {277, 1}, {278, 8}, {279, 128}, {296, 2}};
  std::string tiff("II*\0\x08\0\0\0\x0A\0", 10);
  const auto put = [&](int value, int bytes) {
    for (int i = 0; i < bytes; ++i) tiff += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  for (const auto& [tag, value] : entries) put(tag, 2), put(3, 2), put(1, 4), put(value, 4);
  put(0, 4);
  tiff += std::string(128, '\x40');
  std::ofstream(At("scan"), std::ios::binary) << tiff;
  EXPECT_THAT(Run("scan").output, HasSubstr("frames: 1"));
  EXPECT_THAT(Run("scan").output, Not(HasSubstr("decode")));
}

TEST_F(DetectCommand, NamesThatLeadNowhereAreWrongUse) {
  Make("picture", "num-buffers=1", "pngenc");
  std::filesystem::create_directory(folder_.path() / "folder.onnx");
  struct Case {
    const char *flags, *sentence;
  };
  for (const Case& wrong : {Case{"--model nothing", "npustream: there is no model 'nothing'"},
                            Case{"--model nothing.onnx", "nothing.onnx: there is no such file"},
                            Case{"--model folder.onnx", "folder.onnx is a folder"},
                            Case{"--model coco-day --labels nothing", "npustream: nothing: cannot open"},
                            Case{"--model coco-day --decoder nothing", "'nothing' can be chosen only"},
                            Case{"--model coco-day --batch 0", "npustream: --batch: "},
                            Case{"", "npustream: --model is required; see npustream detect --help"}}) {
    const auto run = Run("picture", wrong.flags);
    EXPECT_EQ(run.exit_code, 2) << run.output;
    EXPECT_THAT(run.output, HasSubstr(wrong.sentence));
  }
  for (const char* config : {"nothing.yaml", "folder.onnx"}) {
    EXPECT_EQ(RunShell("cd '" + folder_.path().string() + "' && npustream run -c " + config).exit_code, 2) << config;
  }
  EXPECT_EQ(RunShell("npustream models info nothing").exit_code, 2);
}

// The model, which cannot be compiled, is not reached.
TEST_F(DetectCommand, InputsAreLookedAtBeforeTheModel) {
  const auto run = RunShell("cd '" + folder_.path().string() + "' && echo nonsense > bad.onnx && npustream detect --model "
                            "bad.onnx --decoder yolox --input nothing.mp4 --output out.jsonl");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_EQ(run.output, "npustream: nothing.mp4 cannot be opened: no such file\n");
}

TEST_F(DetectCommand, NoResultAtAllIsAFailureWithItsReason) {
  Make("tiny", "num-buffers=1 ! video/x-raw,width=4,height=4", "pngenc");
  const auto run = Run("tiny");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("npustream: tiny: none of its frames gave a result: frames of 4x4 pixels are beyond"));
}

TEST_F(DetectCommand, AHostThatDoesNotAnswerIsNamedWithoutThePassword) {
  const auto run = Run("rtsp://user:secret@127.0.0.1:1/gate");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("rtsp://user:***@127.0.0.1:1/gate cannot be opened: 127.0.0.1:1: Connection refused"));
  EXPECT_THAT(run.output, Not(HasSubstr("secret")));
}

TEST_F(DetectCommand, AnOmGetsTheLabelsOfItsOnnx) {
  Make("picture", "num-buffers=1", "pngenc");
  const std::string onnx = NPUSTREAM_SOURCE_DIR "/configs/models/nanodet_g_416_day_int8w.onnx";
  const auto info = RunShell("cd '" + folder_.path().string() + "' && export NPUSTREAM_CACHE=$PWD/cache && npustream detect --model '" + onnx +
                             "' --decoder nanodet --threshold 0.01 --input picture --output onnx.jsonl && cp cache/om/*.om net.om && "
                             "npustream detect --model net.om --decoder nanodet --threshold 0.01 --input picture --output om.jsonl && "
                             "grep -o '\"label\":\"[^\"]*\"' onnx.jsonl > a; grep -o '\"label\":\"[^\"]*\"' om.jsonl > b; "
                             "test -s a && cmp a b");
  EXPECT_EQ(info.exit_code, 0) << info.output;
}

}  // namespace
}  // namespace npustream::e2e
