// npuvdec in small pipelines: what comes out, in which order, and what it costs in transfers.
#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "elements/meta/npu_metas.h"
#include "npu_sim/device/device.h"
#include "tests/elements/gst_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace npustream::elements {
namespace {

using testing_support::Pipeline;

struct Seen {
  std::vector<GstClockTime> pts;
  std::vector<FrameInfo> frames;
  std::vector<std::string> caps;
  uint64_t bytes = 0;
};

// Notes buffers and caps that pass the named element's pad.
void Watch(Pipeline& pipeline, const char* element, const char* pad_name, Seen& seen) {
  const auto found = pipeline.Get(element);
  GstPad* pad = gst_element_get_static_pad(found.get(), pad_name);
  const auto probe = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* seen = static_cast<Seen*>(data);
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
      GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
      seen->pts.push_back(GST_BUFFER_PTS(buffer));
      seen->bytes += gst_buffer_get_size(buffer);
      if (const FrameInfo* frame = NpuFrameMeta::Get(buffer)) seen->frames.push_back(*frame);
    } else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(GST_PAD_PROBE_INFO_EVENT(info), &caps);
      gchar* text = gst_caps_to_string(caps);
      seen->caps.emplace_back(text);
      g_free(text);
    }
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                    probe, &seen, nullptr);
  gst_object_unref(pad);
}

const std::string kTwentyPictures =
    "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=10/1 ! jpegenc "
    "! ";

TEST(NpuVdec, EveryPacketComesOutOnceInOrderWithItsTime) {
  Pipeline pipeline(kTwentyPictures + "npuvdec name=decoder camera-id=gate source=ball.avi ! fakesink name=sink");
  Seen out;
  Watch(pipeline, "sink", "sink", out);
  ASSERT_EQ(pipeline.Run(), "");
  ASSERT_EQ(out.pts.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(out.pts[i], i * 100 * GST_MSECOND);
    EXPECT_EQ(out.frames[i].frame_id, i);
    EXPECT_EQ(out.frames[i].camera_id, "gate");
    EXPECT_EQ(out.frames[i].source, "ball.avi");
    EXPECT_GT(out.frames[i].decode_begin_ns, 0);
  }
  EXPECT_EQ(pipeline.Stat("decoder", "frames-in"), 20);
  EXPECT_EQ(pipeline.Stat("decoder", "frames-out"), 20);
  EXPECT_EQ(pipeline.Stat("decoder", "errors"), 0);
}

TEST(NpuVdec, CapsSayDeviceMemoryFormatRateAndFullRangeOfJpeg) {
  Pipeline pipeline(kTwentyPictures + "npuvdec ! fakesink name=sink");
  Seen out;
  Watch(pipeline, "sink", "sink", out);
  ASSERT_EQ(pipeline.Run(), "");
  ASSERT_EQ(out.caps.size(), 1u);
  for (const char* part : {"video/x-raw(memory:NPU)", "format=(string)NV12", "width=(int)160", "height=(int)120",
                           "framerate=(fraction)10/1", "colorimetry=(string)1:4"}) {
    EXPECT_NE(out.caps[0].find(part), std::string::npos) << part << " in " << out.caps[0];
  }
}

// One set of elements, played twice.
TEST(NpuVdec, StartsAgain) {
  Pipeline pipeline(kTwentyPictures + "npuvdec name=decoder ! fakesink");
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(pipeline.Run(), "") << round;
    EXPECT_EQ(pipeline.Stat("decoder", "frames-out"), 20) << round;
    gst_element_set_state(pipeline.element(), GST_STATE_NULL);
  }
}

TEST(NpuVdec, ChangesTheCapsWhenThePicturesChangeSize) {
  Pipeline pipeline(
      "concat name=both ! npuvdec ! fakesink name=sink "
      "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! jpegenc ! both. "
      "videotestsrc num-buffers=2 ! video/x-raw,width=96,height=80 ! jpegenc ! both.");
  Seen out;
  Watch(pipeline, "sink", "sink", out);
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ(out.pts.size(), 5u);
  ASSERT_EQ(out.caps.size(), 2u);
  EXPECT_NE(out.caps[1].find("width=(int)96"), std::string::npos) << out.caps[1];
}

// Decoding copies the compressed bytes to the device and nothing back.
TEST(NpuVdec, MovesTheCompressedBytesAndNothingElse) {
  Pipeline pipeline(kTwentyPictures + "npuvdec name=decoder ! fakesink name=sink");
  Seen in;
  Watch(pipeline, "decoder", "sink", in);
  const auto device = device::Device::Get(0);
  ASSERT_TRUE(device.ok());
  const device::CopyCounters before = (*device)->counters();
  ASSERT_EQ(pipeline.Run(), "");
  const device::CopyCounters after = (*device)->counters();
  EXPECT_GT(in.bytes, 0u);
  EXPECT_EQ(after.host_to_device - before.host_to_device, in.bytes);
  EXPECT_EQ(after.device_to_host - before.device_to_host, 0u);
}

// The same picture decoded by GStreamer's own JPEG decoder: both are libjpeg's arithmetic up to the chroma filter.
TEST(NpuVdec, PicturesAreThoseOfAnotherDecoder) {
  Pipeline pipeline(
      "videotestsrc num-buffers=1 pattern=gradient ! video/x-raw,format=I420,width=160,height=120 ! jpegenc ! tee "
      "name=t "
      "t. ! queue ! npuvdec ! npudownload ! fakesink name=ours t. ! queue ! jpegdec ! video/x-raw,format=I420 ! "
      "fakesink name=theirs");
  g_object_set(pipeline.Get("ours").get(), "enable-last-sample", TRUE, nullptr);
  ASSERT_EQ(pipeline.Run(), "");
  std::vector<guint8> luma[2];
  const char* names[] = {"ours", "theirs"};
  for (int i = 0; i < 2; ++i) {
    GstSample* sample = nullptr;
    g_object_get(pipeline.Get(names[i]).get(), "last-sample", &sample, nullptr);
    ASSERT_NE(sample, nullptr) << names[i];
    luma[i].resize(160 * 120);
    gst_buffer_extract(gst_sample_get_buffer(sample), 0, luma[i].data(), luma[i].size());
    gst_sample_unref(sample);
  }
  for (size_t i = 0; i < luma[0].size(); ++i) ASSERT_NEAR(luma[0][i], luma[1][i], 2) << "sample " << i;
}

TEST(NpuVdec, GivesRgbWhereDownstreamWantsIt) {
  Pipeline pipeline(kTwentyPictures +
                    "npuvdec ! video/x-raw(memory:NPU),format=RGB ! npudownload ! fakesink name=sink");
  Seen out;
  Watch(pipeline, "sink", "sink", out);
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ(out.bytes, 20u * 160 * 120 * 3);
}

TEST(NpuVdec, ElementsThatReadHostMemoryCannotBeLinked) {
  Pipeline pipeline(kTwentyPictures + "npuvdec ! jpegenc ! fakesink");
  EXPECT_NE(pipeline.Run(), "");
}

// A seek in the middle: frames before and after it come out, nothing hangs.
// A file's bytes come in pieces, and parsebin puts no parser for pictures behind them.
TEST(NpuVdec, PicturesOfAFileAreDecodedHoweverTheyAreCut) {
  const testing_support::TemporaryFolder folder;
  const std::string path = (folder.path() / "picture").string();
  const std::string source = "videotestsrc pattern=snow num-buffers=";
  struct {
    const char *frames, *encoder;
    int expected;
  } const cases[] = {{"1", "jpegenc", 1}, {"3", "jpegenc", 3}, {"1", "pngenc", 1}};
  for (const auto& c : cases) {
    Pipeline writer(source + c.frames + " ! video/x-raw,width=320,height=240 ! " + c.encoder +
                    " ! filesink location=" + path);
    ASSERT_EQ(writer.Run(), "");
    for (const char* size : {"4096", "1000", "10000000"}) {
      Pipeline pipeline("filesrc location=" + path + " blocksize=" + size +
                        " ! parsebin ! npuvdec name=decoder ! fakesink");
      EXPECT_EQ(pipeline.Run(), "") << c.encoder << size;
      EXPECT_EQ(pipeline.Stat("decoder", "frames-in"), c.expected) << c.encoder << size;
      EXPECT_EQ(pipeline.Stat("decoder", "frames-out"), c.expected) << c.encoder << size;
    }
  }
}

TEST(NpuVdec, FlushesOnASeek) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, "robust/gen_h264_longgop.mp4");
  Pipeline pipeline("filesrc location=" + clip.string() +
                    " ! qtdemux ! h264parse ! npuvdec ! fakesink name=sink sync=true");
  Seen out;
  Watch(pipeline, "sink", "sink", out);
  gst_element_set_state(pipeline.element(), GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(pipeline.element(), nullptr, nullptr, 20 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  ASSERT_TRUE(gst_element_seek_simple(pipeline.element(), GST_FORMAT_TIME,
                                      static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
                                      GST_SECOND));
  EXPECT_EQ(pipeline.Run(), "");
  EXPECT_GE(out.pts.back(), GST_SECOND);
}

TEST(NpuVdec, DrainsReorderedFramesAtTheEnd) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, "robust/gen_h265_bframes.mp4");
  Pipeline pipeline("filesrc location=" + clip.string() + " ! parsebin ! npuvdec name=decoder ! fakesink name=sink");
  Seen out;
  Watch(pipeline, "sink", "sink", out);
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_EQ(out.pts.size(), 50u);  // as ffprobe -count_frames says
  EXPECT_TRUE(std::is_sorted(out.pts.begin(), out.pts.end()));
}

TEST(NpuVdec, StopsInTheMiddleOfAStream) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, "videos/vtest.avi");
  for (int round = 0; round < 3; ++round) {
    Pipeline pipeline("filesrc location=" + clip.string() + " ! avidemux ! npuvdec ! fakesink name=sink sync=true");
    gst_element_set_state(pipeline.element(), GST_STATE_PLAYING);
    ASSERT_EQ(gst_element_get_state(pipeline.element(), nullptr, nullptr, 20 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(gst_element_set_state(pipeline.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
}

class Robust : public testing::TestWithParam<const char*> {};

// Files that decode only in part: as many frames as ffprobe counts (or fewer where it shows concealed ones), and an
// end.
TEST_P(Robust, IsDecodedAsFarAsItGoesAndEnds) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, std::string("robust/") + GetParam());
  Pipeline pipeline("filesrc location=" + clip.string() + " ! parsebin ! npuvdec name=decoder ! fakesink");
  ASSERT_EQ(pipeline.Run(), "");
  EXPECT_GT(pipeline.Stat("decoder", "frames-out"), 0);
}

INSTANTIATE_TEST_SUITE_P(Files, Robust,
                         testing::Values("bad_bitflips.h264", "bad_truncated.h264",
                                         "fate_h264_mp4-init-nonkeyframe.mp4", "gen_h264_2x2.mp4",
                                         "gen_mjpeg_17x3840.avi", "gen_vp8.webm",
                                         "fate_hevc_extradata-reload-multi-stsd.mp4"));

}  // namespace
}  // namespace npustream::elements
