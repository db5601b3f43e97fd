// The whole chain with the embedded model: preprocess, infer, postprocess, records.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "npu_sim/device/device.h"
#include "tests/elements/gst_test_support.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace npustream::elements {
namespace {

using testing_support::Pipeline;

class Detect : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("NPUSTREAM_CACHE", NPUSTREAM_BINARY_DIR "/tests/cache", 0); }
  static std::string Source(int frames, int width = 320, int height = 240) {
    return "videotestsrc num-buffers=" + std::to_string(frames) + " ! video/x-raw,width=" + std::to_string(width) +
           ",height=" + std::to_string(height) + ",framerate=10/1 ! jpegenc ! npuvdec name=decoder ! ";
  }
  std::string Records() { return (folder_.path() / "out.jsonl").string(); }
  testing_support::TemporaryFolder folder_;
};

int Lines(const std::string& path) {
  const std::string text = *ReadTextFile(path);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Detect, EveryFrameGivesOneRecord) {
  Pipeline pipeline(Source(12) + "npudetect name=detect model=coco-day ! npumetasink name=sink location=" + Records());
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ(Lines(Records()), 12);
  EXPECT_EQ(pipeline.Stat("sink", "records-out"), 12);
  EXPECT_EQ(pipeline.Stat("detect", "inferred"), 12);
}

TEST_F(Detect, FramesBetweenTheIntervalAreCountedByReason) {
  Pipeline pipeline(Source(10) +
                    "npudetect model=coco-day inference-interval=3 ! npumetasink name=sink location=" + Records());
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ(Lines(Records()), 4);  // frames 0, 3, 6, 9
  EXPECT_EQ(pipeline.Stat("sink", "dropped-interval"), 6);
}

TEST_F(Detect, FramesThatAreTooSmallPassAndAreCounted) {
  Pipeline pipeline(Source(3, 8, 8) + "npudetect model=coco-day ! npumetasink name=sink location=" + Records());
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ(pipeline.Stat("sink", "records-out"), 0);
  EXPECT_EQ(pipeline.Stat("sink", "dropped-preprocess"), 3);
}

TEST_F(Detect, BatchesDoNotChangeRecords) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, "videos/day_dos.mp4");
  std::string texts[2];
  const char* settings[] = {"batch-size=1 max-in-flight=1 model-instance-id=one", "batch-size=8 max-in-flight=16"};
  for (int i = 0; i < 2; ++i) {
    Pipeline pipeline("filesrc location=" + clip.string() +
                      " ! qtdemux ! h264parse ! npuvdec camera-id=gate ! npudetect model=coco-day " + settings[i] +
                      " ! npumetasink location=" + Records());
    ASSERT_EQ(pipeline.Run(120), "");
    texts[i] = *ReadTextFile(Records());
  }
  EXPECT_EQ(std::count(texts[0].begin(), texts[0].end(), '\n'), 60);
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(Detect, FramesOfAnotherFormatThanTheModelsAreNamed) {
  for (const char* source : {"videotestsrc num-buffers=2 ! video/x-raw,format=RGB,width=64,height=64 ! npuupload ! ",
                             "videotestsrc num-buffers=2 ! jpegenc ! npuvdec output-format=rgb ! "}) {
    Pipeline pipeline(std::string(source) + "npudetect model=coco-day ! npumetasink location=" + Records());
    EXPECT_THAT(pipeline.Run(), testing::HasSubstr("the frames are RGB, but the model takes NV12: set picture-format=rgb"));
  }
  Pipeline pipeline("videotestsrc num-buffers=2 ! video/x-raw,width=64,height=64 ! npuupload ! npudetect model=coco-day ! "
                    "npumetasink location=" + Records());
  EXPECT_EQ(pipeline.Run(), "") << "a source that can choose is told the model's format";
}

TEST_F(Detect, CamerasWithoutNamesAreCalledAsTheirDecoders) {
  Pipeline pipeline("videotestsrc num-buffers=1 ! jpegenc ! npuvdec name=gate ! npudetect model=coco-day ! "
                    "npumetasink location=" + Records());
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_THAT(*ReadTextFile(Records()), testing::HasSubstr("\"camera_id\":\"gate\""));
}

TEST_F(Detect, AFullQueueCanLetFramesPassAndEveryOneIsCounted) {
  Pipeline pipeline(
      Source(40) +
      "npudetect name=detect model=coco-day max-in-flight=1 when-full=pass ! npumetasink name=sink location=" +
      Records());
  ASSERT_EQ(pipeline.Run(), "");
  const int64_t records = pipeline.Stat("sink", "records-out");
  const int64_t dropped = std::max<int64_t>(0, pipeline.Stat("sink", "dropped-queue-full"));
  EXPECT_EQ(pipeline.Stat("sink", "frames-in"), 40);
  EXPECT_EQ(records + dropped, 40);
  EXPECT_GE(records, 1);
  EXPECT_EQ(pipeline.Stat("detect", "dropped"), dropped);
}

TEST_F(Detect, FlushesOnASeek) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, "videos/day_dos.mp4");
  Pipeline pipeline(
      "filesrc location=" + clip.string() +
      " ! qtdemux ! h264parse ! npuvdec ! npudetect model=coco-day ! npumetasink name=sink location=" + Records());
  gst_element_set_state(pipeline.element(), GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(pipeline.element(), nullptr, nullptr, 60 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  for (const guint64 to : std::initializer_list<guint64>{2 * GST_SECOND, 0, GST_SECOND}) {
    ASSERT_TRUE(gst_element_seek_simple(pipeline.element(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, to));
  }
  EXPECT_EQ(pipeline.Run(), "");
}

TEST_F(Detect, AnOutputThatCannotBeWrittenStopsThatPipelineAlone) {
  Pipeline good(Source(20) + "npudetect model=coco-day ! npumetasink name=sink location=" + Records());
  Pipeline bad(Source(20) + "npudetect model=coco-day ! npumetasink location=/dev/full");
  gst_element_set_state(good.element(), GST_STATE_PLAYING);
  EXPECT_THAT(bad.Run(), testing::HasSubstr("/dev/full"));
  EXPECT_EQ(good.Run(), "");
  EXPECT_EQ(good.Stat("sink", "records-out"), 20);
}

TEST_F(Detect, TwoPipelinesShareOneRunner) {
  Pipeline first(Source(6) + "npudetect name=detect model=coco-day model-instance-id=shared ! fakesink");
  Pipeline second(Source(6) + "npudetect name=detect model=coco-day model-instance-id=shared ! fakesink");
  gst_element_set_state(second.element(), GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(second.element(), nullptr, nullptr, 60 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  ASSERT_EQ(first.Run(), "");
  ASSERT_EQ(second.Run(), "");
  EXPECT_EQ(first.Stat("detect", "inferred"), 6);
  EXPECT_EQ(second.Stat("detect", "runner-requests"), 12);
}

TEST_F(Detect, CopiesCompressedBytesUpAndOutputTensorsDown) {
  Pipeline pipeline(Source(10) + "npudetect name=detect model=coco-day ! npumetasink location=" + Records());
  // The ONNX file's outputs: 52² + 26² + 13² places with 80 classes and 4 × 11 distance bins each, float32.
  constexpr uint64_t kOutputBytes = 4ull * (52 * 52 + 26 * 26 + 13 * 13) * (80 + 44);
  const auto device = device::Device::Get(0);
  gst_element_set_state(pipeline.element(), GST_STATE_READY);
  const device::CopyCounters before = (*device)->counters();
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ((*device)->counters().device_to_host - before.device_to_host, 10 * kOutputBytes);
}

TEST_F(Detect, AModelThatIsNotThereIsOneClearSentence) {
  Pipeline pipeline(Source(1) + "npudetect model=no-such-model ! fakesink");
  EXPECT_NE(pipeline.Run().find("no-such-model"), std::string::npos);
}

TEST_F(Detect, AFrameThatNobodyPreparedIsAClearSentence) {
  Pipeline pipeline(Source(3) + "npuinfer model=coco-day ! npupostprocess ! fakesink");
  EXPECT_THAT(pipeline.Run(), testing::HasSubstr("npupreprocess with the same model has to come before npuinfer"));
}

TEST_F(Detect, WithoutAModelItSaysWhatToSet) {
  Pipeline pipeline(Source(1) + "npudetect ! fakesink");
  EXPECT_NE(pipeline.Run().find("model="), std::string::npos);
}

}  // namespace
}  // namespace npustream::elements
