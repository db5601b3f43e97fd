// Every file of the collection of odd and broken media: what plain libav calls good comes out, bit by bit the same, and
// every packet is answered once.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "dvpp/vdec/channel.h"
#include "dvpp/vdec/frame_allocator.h"
#include "tests/dvpp/vdec/host_block_source.h"
#include "tests/dvpp/vdec/media_file.h"
#include "tests/support/test_data.h"

namespace npustream::dvpp {
namespace {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> luma;
  std::vector<uint8_t> pairs;
};

void AppendPlane(const PlaneView& plane, std::vector<uint8_t>& into) {
  for (int y = 0; y < plane.height; ++y) {
    const uint8_t* row = plane.data + y * plane.stride;
    into.insert(into.end(), row, row + plane.width * plane.channels);
  }
}

struct Outcome {
  std::vector<std::pair<int64_t, Picture>> good;  // packet and picture, in the order of the answers
  std::map<int64_t, int> answers;                 // per packet
};

Outcome DecodeWithChannel(const MediaFile& file, uint32_t stream_format) {
  Outcome outcome;
  auto source = std::make_shared<HostBlockSource>();
  {
    const DecoderOptions options{stream_format, PIXEL_FORMAT_YUV_SEMIPLANAR_420, file.parameters->width,
                                 file.parameters->height};
    auto channel = VdecChannel::Create(options, FramePool::Create(source));
    EXPECT_TRUE(channel.ok());
    if (const std::vector<uint8_t> data = file.codec_data(); !data.empty()) {
      EXPECT_TRUE(channel.value()->SendCodecData(data).ok());
    }
    for (size_t i = 0; i < file.packets.size(); ++i) {
      size_t size = 0;
      const uint8_t* data = av_packet_get_side_data(file.packets[i].get(), AV_PKT_DATA_NEW_EXTRADATA, &size);
      if (data != nullptr) {
        EXPECT_TRUE(channel.value()->SendCodecData({data, size}).ok());
      }
      const std::span<const uint8_t> bytes(file.packets[i]->data, file.packets[i]->size);
      EXPECT_TRUE(channel.value()
                      ->SendPacket(bytes,
                                   [&outcome, i](Result<DecodedPicture> picture) {
                                     ++outcome.answers[i];
                                     if (!picture.ok()) return;
                                     Picture copy{picture->view.width, picture->view.height, {}, {}};
                                     AppendPlane(picture->view.Plane(0), copy.luma);
                                     AppendPlane(picture->view.Plane(1), copy.pairs);
                                     outcome.good.emplace_back(i, std::move(copy));
                                   })
                      .ok());
    }
    channel.value()->Finish();
  }
  EXPECT_EQ(source->live(), 0);
  return outcome;
}

class EveryRobustFile : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Vdec, EveryRobustFile,
    testing::Values("bad_bitflips.h264", "bad_random.mp4", "bad_truncated.h264", "bad_zero_bytes.mp4",
                    "fate_av1_frames_refs_short_signaling.mp4",
                    "fate_h264_SonyXAVC_LongGOP_green_pixelation_early_Frames.mp4",
                    "fate_h264_crop-to-container-dims-canon.mp4", "fate_h264_dts_5frames.mkv",
                    "fate_h264_extradata-reload-multi-stsd.mp4", "fate_h264_h264_4bf_pyramid_nobsrestriction.mp4",
                    "fate_h264_high-qp.mkv", "fate_h264_mixed-nal-coding.mp4", "fate_h264_mp4-init-nonkeyframe.mp4",
                    "fate_h264_ref_10.avi", "fate_hevc_extradata-reload-multi-stsd.mp4",
                    "fate_hevc_mov_ibi_elst_starts_b.mp4", "fate_mjpeg_Owner-iTunes_9.0.3.15.mp4",
                    "fate_mpeg2video_mpeg2_field_encoding.mp4", "fate_mpeg4_invalid_elst_entry_count.mp4",
                    "gen_all_black.mp4", "gen_h264_2x2.mp4", "gen_h264_annexb.h264", "gen_h264_longgop.mp4",
                    "gen_h265_bframes.mp4", "gen_mjpeg_17x3840.avi", "gen_vp8.webm"));

TEST_P(EveryRobustFile, GivesThePicturesOfPlainLibav) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, std::string("robust/") + GetParam());
  const std::optional<MediaFile> file = MediaFile::Read(path);
  if (!file) {
    EXPECT_EQ(std::string(GetParam()).rfind("bad_", 0), 0u) << "only broken files have no video stream";
    return;
  }
  const std::optional<uint32_t> format = file->stream_format();
  if (!format) GTEST_SKIP() << "not one of our codecs";
  const Outcome outcome = DecodeWithChannel(*file, *format);
  EXPECT_EQ(outcome.answers.size(), file->packets.size());
  for (const auto& [packet, count] : outcome.answers) EXPECT_EQ(count, 1) << "packet " << packet;

  std::vector<ReferenceFrame> wanted = DecodeWithLibav(*file);
  std::erase_if(wanted, [](const ReferenceFrame& frame) { return frame.damaged; });
  ASSERT_EQ(outcome.good.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto& [packet, picture] = outcome.good[i];
    EXPECT_EQ(packet, wanted[i].packet);
    ASSERT_EQ(picture.width, wanted[i].width);
    ASSERT_EQ(picture.height, wanted[i].height);
    if (!HasNv12Luma(wanted[i].pixel_format)) continue;
    ASSERT_TRUE(picture.luma == wanted[i].luma) << "luma of picture " << i;
    if (!wanted[i].pairs.empty()) {
      ASSERT_TRUE(picture.pairs == wanted[i].pairs) << "chroma of picture " << i;
    }
  }
}

}  // namespace
}  // namespace npustream::dvpp
