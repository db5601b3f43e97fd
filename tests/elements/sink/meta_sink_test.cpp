// npumetasink and npupublish.
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "elements/meta/npu_metas.h"
#include "tests/elements/gst_test_support.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::elements {
namespace {

using testing_support::MakeHarness;

GstBuffer* FrameWith(int objects, InferenceSkipped skipped = InferenceSkipped::kNo) {
  GstBuffer* buffer = gst_buffer_new();
  GST_BUFFER_PTS(buffer) = 40 * GST_MSECOND;
  FrameInfo frame;
  frame.camera_id = "gate";
  frame.source = "clip.mp4";
  frame.frame_id = 7;
  frame.skipped = skipped;
  NpuFrameMeta::Add(buffer, frame);
  if (skipped != InferenceSkipped::kNo) return buffer;
  DetectionResult result;
  result.model_name = "m";
  result.frame_width = result.frame_height = 100;
  for (int i = 0; i < objects; ++i) result.objects.push_back({{{10, 10, 20, 30}, 0.5f, 0, {}}, "person", -1});
  AttachDetections(buffer, std::move(result));
  return buffer;
}

uint64_t Stat(GstElement* element, const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 value = 0;
  gst_structure_get_uint64(stats, field, &value);
  gst_structure_free(stats);
  return value;
}

TEST(NpuMetaSink, WritesARecordPerResultAndCountsTheRestByReason) {
  const testing_support::TemporaryFolder folder;
  const std::string path = (folder.path() / "out.jsonl").string();
  auto harness = MakeHarness("npumetasink name=sink location=" + path);
  gst_harness_set_src_caps_str(harness.get(), "video/x-raw(memory:NPU),format=NV12,width=100,height=100");
  const std::unique_ptr<GstElement, testing_support::ObjectUnref> sink(
      gst_bin_get_by_name(GST_BIN(harness->element), "sink"));
  gst_harness_push(harness.get(), FrameWith(2));
  gst_harness_push(harness.get(), FrameWith(0));
  gst_harness_push(harness.get(), FrameWith(0, InferenceSkipped::kInterval));
  gst_harness_push(harness.get(), FrameWith(0, InferenceSkipped::kQueueFull));
  gst_harness_push(harness.get(), gst_buffer_new());
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const std::string text = *ReadTextFile(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find(R"({"schema_version":1,"camera_id":"gate","frame_id":7,"pts_ns":40000000,"source":"clip.mp4",)"),
            0u)
      << text;
  EXPECT_EQ(Stat(sink.get(), "frames-in"), 5u);
  EXPECT_EQ(Stat(sink.get(), "records-out"), 2u);
  EXPECT_EQ(Stat(sink.get(), "objects"), 2u);
  EXPECT_EQ(Stat(sink.get(), "dropped-interval"), 1u);
  EXPECT_EQ(Stat(sink.get(), "dropped-queue-full"), 1u);
  EXPECT_EQ(Stat(sink.get(), "dropped-no-result"), 1u);
}

TEST(NpuPublish, WritesTheSameRecordsAndPassesFramesOn) {
  const testing_support::TemporaryFolder folder;
  const std::string path = (folder.path() / "out.jsonl").string();
  auto harness = MakeHarness("npupublish camera-id=door source=x.png location=" + path);
  gst_harness_set_src_caps_str(harness.get(), "video/x-raw,format=NV12,width=100,height=100,framerate=1/1");
  GstBuffer* buffer = FrameWith(1);
  gst_harness_push(harness.get(), buffer);
  const testing_support::UniqueBuffer out(gst_harness_pull(harness.get()));
  EXPECT_EQ(out.get(), buffer);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const std::string text = *ReadTextFile(path);
  EXPECT_NE(text.find(R"("camera_id":"door")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("source":"x.png")"), std::string::npos) << text;
}

TEST(NpuMetaSink, SaysWhichFileCannotBeWritten) {
  testing_support::Pipeline pipeline("fakesrc num-buffers=1 ! npumetasink location=/nowhere/out.jsonl");
  EXPECT_NE(pipeline.Run().find("/nowhere/out.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace npustream::elements
