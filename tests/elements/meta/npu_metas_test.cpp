#include "elements/meta/npu_metas.h"

#include <gtest/gtest.h>

#include "tests/elements/gst_test_support.h"

namespace npustream::elements {
namespace {

using testing_support::InitGstreamer;
using testing_support::UniqueBuffer;

DetectionResult TwoObjects() {
  DetectionResult result;
  result.model_name = "coco-day";
  result.frame_width = 200;
  result.frame_height = 100;
  result.objects.push_back({{{20, 10, 60, 90}, 0.75f, 0, {{30, 20}}}, "person", -1});
  result.objects.push_back({{{100, 50, 150, 100}, 0.5f, 2, {}}, "car", -1});
  return result;
}

TEST(NpuMetas, AreRegisteredUnderTheirNames) {
  InitGstreamer();
  EXPECT_STREQ(g_type_name(NpuFrameMeta::Info()->type), "NpuFrameMeta");
  EXPECT_EQ(gst_meta_get_info("NpuDetectionMeta"), NpuDetectionMeta::Info());
  EXPECT_EQ(g_type_from_name("NpuTensorMetaAPI"), NpuTensorMeta::Api());
}

TEST(NpuMetas, SurviveACopyOfTheBufferAndStayApart) {
  InitGstreamer();
  UniqueBuffer buffer(gst_buffer_new());
  FrameInfo frame;
  frame.camera_id = "gate";
  frame.frame_id = 5;
  NpuFrameMeta::Add(buffer.get(), frame);
  AttachDetections(buffer.get(), TwoObjects());
  const UniqueBuffer copy(gst_buffer_copy(buffer.get()));
  NpuFrameMeta::Get(buffer.get())->camera_id = "changed";
  buffer.reset();
  EXPECT_EQ(NpuFrameMeta::Get(copy.get())->camera_id, "gate");
  EXPECT_EQ(NpuFrameMeta::Get(copy.get())->frame_id, 5u);
  const DetectionResult* result = NpuDetectionMeta::Get(copy.get());
  ASSERT_NE(result, nullptr);
  ASSERT_EQ(result->objects.size(), 2u);
  EXPECT_EQ(result->objects[1].label, "car");
  EXPECT_EQ(NpuTensorMeta::Get(copy.get()), nullptr);
}

TEST(NpuMetas, DetectionsAreMirroredToRegionsOfInterest) {
  InitGstreamer();
  const UniqueBuffer buffer(gst_buffer_new());
  AttachDetections(buffer.get(), TwoObjects());
  gpointer position = nullptr;
  const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_iterate_meta_filtered(buffer.get(), &position, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  ASSERT_NE(roi, nullptr);
  EXPECT_STREQ(g_quark_to_string(roi->roi_type), "person");
  EXPECT_EQ(roi->x, 20u);
  EXPECT_EQ(roi->y, 10u);
  EXPECT_EQ(roi->w, 40u);
  EXPECT_EQ(roi->h, 80u);
  const GstStructure* detection =
      gst_video_region_of_interest_meta_get_param(const_cast<GstVideoRegionOfInterestMeta*>(roi), "detection");
  ASSERT_NE(detection, nullptr);
  double confidence = 0, x_min = 0, y_max = 0;
  int label_id = -1;
  gst_structure_get(detection, "confidence", G_TYPE_DOUBLE, &confidence, "label_id", G_TYPE_INT, &label_id, "x_min",
                    G_TYPE_DOUBLE, &x_min, "y_max", G_TYPE_DOUBLE, &y_max, nullptr);
  EXPECT_DOUBLE_EQ(confidence, 0.75);
  EXPECT_EQ(label_id, 0);
  EXPECT_DOUBLE_EQ(x_min, 0.1);
  EXPECT_DOUBLE_EQ(y_max, 0.9);
  EXPECT_NE(gst_buffer_iterate_meta_filtered(buffer.get(), &position, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
            nullptr);
  EXPECT_EQ(gst_buffer_iterate_meta_filtered(buffer.get(), &position, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
            nullptr);
}

TEST(NpuMetas, BoxesFollowWhenVideoscaleScalesTheFrame) {
  auto harness = testing_support::MakeHarness("videoscale ! capsfilter caps=video/x-raw,width=100,height=200");
  gst_harness_set_src_caps_str(harness.get(), "video/x-raw,format=GRAY8,width=200,height=100,framerate=1/1");
  GstBuffer* buffer = gst_harness_create_buffer(harness.get(), 200 * 100);
  AttachDetections(buffer, TwoObjects());
  ASSERT_EQ(gst_harness_push(harness.get(), buffer), GST_FLOW_OK);
  const UniqueBuffer scaled(gst_harness_pull(harness.get()));
  const DetectionResult* result = NpuDetectionMeta::Get(scaled.get());
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->frame_width, 100);
  EXPECT_EQ(result->frame_height, 200);
  EXPECT_FLOAT_EQ(result->objects[0].detection.box.x_max, 30);
  EXPECT_FLOAT_EQ(result->objects[0].detection.box.y_max, 180);
  EXPECT_FLOAT_EQ(result->objects[0].detection.landmarks[0].x, 15);
}

TEST(MarkSkipped, KeepsWhatTheFrameAlreadySays) {
  InitGstreamer();
  const UniqueBuffer buffer(gst_buffer_new());
  FrameInfo frame;
  frame.frame_id = 3;
  NpuFrameMeta::Add(buffer.get(), frame);
  MarkSkipped(buffer.get(), InferenceSkipped::kInterval);
  EXPECT_EQ(NpuFrameMeta::Get(buffer.get())->frame_id, 3u);
  EXPECT_EQ(ToString(NpuFrameMeta::Get(buffer.get())->skipped), "interval");
}

}  // namespace
}  // namespace npustream::elements
