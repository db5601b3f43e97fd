// npuupload and npudownload: what goes up comes down, and nothing else can read it in between.
#include <cstring>
#include <string>
#include <vector>

#include <acl/acl.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"
#include "tests/elements/gst_test_support.h"

namespace npustream::elements {
namespace {

using testing_support::MakeHarness;
using testing_support::UniqueBuffer;

// A buffer in GStreamer's own layout with a value for every visible sample and zero for the rest.
UniqueBuffer Pattern(const GstVideoInfo& info) {
  UniqueBuffer buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, GST_VIDEO_INFO_SIZE(&info));
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer.get(), GST_MAP_WRITE));
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); ++plane) {
    auto* data = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
    const int row_bytes = GST_VIDEO_FRAME_COMP_WIDTH(&frame, plane) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, plane);
    for (int row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane); ++row) {
      for (int i = 0; i < row_bytes; ++i) {
        data[row * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane) + i] =
            static_cast<guint8>(1 + (row * 31 + i * 7 + plane) % 255);
      }
    }
  }
  gst_video_frame_unmap(&frame);
  return buffer;
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, GivesTheSameSamples) {
  const std::string caps_text = std::string("video/x-raw,framerate=1/1,") + GetParam();
  auto harness = MakeHarness("npuupload ! npudownload");
  gst_harness_set_src_caps_str(harness.get(), caps_text.c_str());
  GstCaps* caps = gst_caps_from_string(caps_text.c_str());
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, caps));
  gst_caps_unref(caps);
  const UniqueBuffer sent = Pattern(info);
  ASSERT_EQ(gst_harness_push(harness.get(), gst_buffer_ref(sent.get())), GST_FLOW_OK);
  const UniqueBuffer got(gst_harness_pull(harness.get()));
  GstVideoFrame a, b;
  ASSERT_TRUE(gst_video_frame_map(&a, &info, sent.get(), GST_MAP_READ));
  ASSERT_TRUE(gst_video_frame_map(&b, &info, got.get(), GST_MAP_READ));
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&a); ++plane) {
    const int row_bytes = GST_VIDEO_FRAME_COMP_WIDTH(&a, plane) * GST_VIDEO_FRAME_COMP_PSTRIDE(&a, plane);
    for (int row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&a, plane); ++row) {
      const auto row_of = [&](GstVideoFrame& frame) {
        return static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
               row * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
      };
      ASSERT_EQ(std::memcmp(row_of(a), row_of(b), row_bytes), 0) << "plane " << plane << " row " << row;
    }
  }
  gst_video_frame_unmap(&a);
  gst_video_frame_unmap(&b);
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip,
                         testing::Values("format=NV12,width=64,height=32", "format=NV12,width=70,height=35",
                                         "format=NV12,width=641,height=359", "format=NV12,width=1920,height=1080",
                                         "format=RGB,width=64,height=32", "format=RGB,width=33,height=17",
                                         "format=BGR,width=130,height=10", "format=NV12,width=2,height=2"));

class DeviceFrame : public testing::Test {
 protected:
  void SetUp() override {
    harness_ = MakeHarness("npuupload");
    gst_harness_set_src_caps_str(harness_.get(), "video/x-raw,format=NV12,width=70,height=36,framerate=1/1");
    GstBuffer* sent = gst_buffer_new_allocate(nullptr, 72 * 36 * 3 / 2, nullptr);
    gst_buffer_memset(sent, 0, 90, 72 * 36 * 3 / 2);
    FrameInfo frame;
    frame.camera_id = "gate";
    NpuFrameMeta::Add(sent, frame);
    ASSERT_EQ(gst_harness_push(harness_.get(), sent), GST_FLOW_OK);
    buffer_.reset(gst_harness_pull(harness_.get()));
  }
  testing_support::Harness harness_{nullptr};
  UniqueBuffer buffer_;
};

TEST_F(DeviceFrame, CannotBeMappedByTheHost) {
  GstMapInfo map;
  EXPECT_FALSE(gst_buffer_map(buffer_.get(), &map, GST_MAP_READ));
}

TEST_F(DeviceFrame, HasTheStridesOfTheDevice) {
  GstCaps* caps = gst_caps_from_string("video/x-raw,format=NV12,width=70,height=36");
  GstVideoInfo info;
  gst_video_info_from_caps(&info, caps);
  gst_caps_unref(caps);
  const auto picture = DevicePictureOf(buffer_.get(), info);
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  EXPECT_EQ(picture->width_stride, 80u);  // the next multiple of 16
  EXPECT_EQ(picture->height_stride, 36u);
  EXPECT_EQ(picture->bytes, 80u * 36 * 3 / 2);
}

TEST_F(DeviceFrame, KeepsTheMetasOfTheHostFrame) {
  ASSERT_NE(NpuFrameMeta::Get(buffer_.get()), nullptr);
  EXPECT_EQ(NpuFrameMeta::Get(buffer_.get())->camera_id, "gate");
}

TEST_F(DeviceFrame, CanBeCopiedOnTheDevice) {
  const UniqueBuffer copy(gst_buffer_copy_deep(buffer_.get()));
  ASSERT_EQ(gst_buffer_n_memory(copy.get()), 1u);
  const auto original = DeviceBlockOf(gst_buffer_peek_memory(buffer_.get(), 0));
  const auto block = DeviceBlockOf(gst_buffer_peek_memory(copy.get(), 0));
  ASSERT_NE(block, nullptr);
  EXPECT_NE(block->data(), original->data());
  std::vector<guint8> host(70);
  ASSERT_TRUE(block->device()->Bind().ok());
  ASSERT_EQ(aclrtMemcpy(host.data(), host.size(), block->data(), host.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(host, std::vector<guint8>(70, 90));
}

TEST_F(DeviceFrame, OutlivesThePipelineItCameFrom) {
  harness_.reset();
  const auto block = DeviceBlockOf(gst_buffer_peek_memory(buffer_.get(), 0));
  std::vector<guint8> host(70);
  ASSERT_TRUE(block->device()->Bind().ok());
  ASSERT_EQ(aclrtMemcpy(host.data(), host.size(), block->data(), host.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(host[69], 90);
}

TEST(DevicePictureOf, RefusesMemoryOfTheHost) {
  testing_support::InitGstreamer();
  GstCaps* caps = gst_caps_from_string("video/x-raw,format=NV12,width=64,height=32");
  GstVideoInfo info;
  gst_video_info_from_caps(&info, caps);
  gst_caps_unref(caps);
  const UniqueBuffer buffer(gst_buffer_new_allocate(nullptr, 64 * 32 * 3 / 2, nullptr));
  const auto picture = DevicePictureOf(buffer.get(), info);
  ASSERT_FALSE(picture.ok());
  EXPECT_NE(picture.status().message().find("npuupload"), std::string::npos);
}

TEST(DeviceBlockPool, UsesBlocksAgainUpToItsBound) {
  const auto device = NpuDevice::Open(0);
  ASSERT_TRUE(device.ok()) << device.status().message();
  DeviceBlockPool pool(*device, 1);
  auto first = pool.Acquire(1000);
  auto second = pool.Acquire(1000);
  ASSERT_TRUE(first.ok() && second.ok());
  void* const address = (*first)->data();
  first->reset();
  second->reset();
  EXPECT_EQ(pool.idle_blocks(), 1u);
  EXPECT_EQ((*pool.Acquire(900))->data(), address);
  EXPECT_NE((*pool.Acquire(5000))->bytes(), 1000u);
}

TEST(NpuDevice, NamesTheDeviceThatIsNotThere) {
  const auto device = NpuDevice::Open(15);
  ASSERT_FALSE(device.ok());
  EXPECT_NE(device.status().message().find("15"), std::string::npos) << device.status().message();
}

}  // namespace
}  // namespace npustream::elements
