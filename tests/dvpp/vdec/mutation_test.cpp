// Packets with random damage: no crash, every packet answered, and the channel decodes a good stream afterwards.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "dvpp/vdec/channel.h"
#include "tests/dvpp/vdec/host_block_source.h"
#include "tests/dvpp/vdec/media_file.h"
#include "tests/support/test_data.h"

namespace npustream::dvpp {
namespace {

class EveryCodec : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Mutation, EveryCodec,
                         testing::Values("gen_h264_annexb.h264", "gen_h265_bframes.mp4", "gen_vp8.webm",
                                         "gen_mjpeg_17x3840.avi", "fate_mpeg2video_mpeg2_field_encoding.mp4",
                                         "fate_av1_frames_refs_short_signaling.mp4"));

std::vector<uint8_t> Damage(const AVPacket& packet, std::mt19937& random) {
  std::vector<uint8_t> bytes(packet.data, packet.data + packet.size);
  if (random() % 4 == 0) bytes.resize(1 + random() % bytes.size());
  const int changes = random() % 6;
  for (int i = 0; i < changes; ++i) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
  return bytes;
}

TEST_P(EveryCodec, SurvivesDamageAndDecodesTheNextStream) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, std::string("robust/") + GetParam());
  const std::optional<MediaFile> file = MediaFile::Read(path);
  ASSERT_TRUE(file && file->stream_format());
  const auto pool = FramePool::Create(std::make_shared<HostBlockSource>());
  auto channel = VdecChannel::Create({*file->stream_format(), PIXEL_FORMAT_YUV_SEMIPLANAR_420}, pool);
  ASSERT_TRUE(channel.ok());
  std::mt19937 random(7);
  int sent = 0;
  int answered = 0;
  int good_at_the_end = 0;
  for (int round = 0; round < 4; ++round) {
    const bool damage = round < 3;
    ASSERT_TRUE(channel.value()->SendCodecData(file->codec_data()).ok());
    for (const AvPacket& packet : file->packets) {
      const std::vector<uint8_t> bytes = damage ? Damage(*packet, random)
                                                : std::vector<uint8_t>(packet->data, packet->data + packet->size);
      ++sent;
      ASSERT_TRUE(channel.value()
                      ->SendPacket(bytes,
                                   [&, damage](Result<DecodedPicture> picture) {
                                     ++answered;
                                     good_at_the_end += !damage && picture.ok();
                                   })
                      .ok());
    }
    ASSERT_TRUE(channel.value()->SendEndOfStream().ok());
  }
  channel.value()->Finish();
  EXPECT_EQ(answered, sent);
  const std::vector<ReferenceFrame> wanted = DecodeWithLibav(*file);
  EXPECT_EQ(good_at_the_end, std::count_if(wanted.begin(), wanted.end(), [](const auto& f) { return !f.damaged; }));
}

}  // namespace
}  // namespace npustream::dvpp
