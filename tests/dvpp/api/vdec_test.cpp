#include <algorithm>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "dvpp/api/owned_pictures.h"
#include "dvpp/api/vdec_session.h"
#include "dvpp/vdec/codecs.h"
#include "tests/dvpp/api/acl_session.h"
#include "tests/dvpp/vdec/media_file.h"
#include "tests/support/test_data.h"

namespace npustream::dvpp {
namespace {

// What the application keeps about a packet it has sent.
struct Sent {
  class VdecTest* test = nullptr;
  std::unique_ptr<DeviceBytes> bytes;
  std::unique_ptr<DeviceBytes> target;
};

struct Received {
  uint64_t timestamp = 0;
  bool skipped = false;
  uint32_t ret_code = 0;
  uint32_t colour = 0;
  std::vector<uint8_t> luma;
  std::vector<uint8_t> pairs;
  uint32_t width_stride = 0;
};

class VdecTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    reports_.emplace();
  }
  void TearDown() override {
    reports_.reset();
    AclTest::TearDown();
  }
  void Open(uint32_t stream_format) {
    description_ = aclvdecCreateChannelDesc();
    aclvdecSetChannelDescChannelId(description_, 1);
    aclvdecSetChannelDescThreadId(description_, reports_->id());
    aclvdecSetChannelDescCallback(description_, Callback);
    aclvdecSetChannelDescEnType(description_, static_cast<acldvppStreamFormat>(stream_format));
    aclvdecSetChannelDescOutPicFormat(description_, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    ASSERT_EQ(aclvdecCreateChannel(description_), ACL_SUCCESS);
  }
  void Close() {
    ASSERT_EQ(aclvdecDestroyChannel(description_), ACL_SUCCESS);
    ASSERT_EQ(aclvdecDestroyChannelDesc(description_), ACL_SUCCESS);
  }
  void SendCodecData(const std::vector<uint8_t>& data) {
    if (data.empty()) return;
    const DeviceBytes bytes(data);
    acldvppStreamDesc* stream = acldvppCreateStreamDesc();
    acldvppSetStreamDescData(stream, bytes.data());
    acldvppSetStreamDescSize(stream, bytes.size());
    acldvppSetStreamDescFormat(stream, static_cast<acldvppStreamFormat>(kCodecDataFormat));
    EXPECT_EQ(aclvdecSendFrame(description_, stream, nullptr, nullptr, nullptr), ACL_SUCCESS);
    acldvppDestroyStreamDesc(stream);
  }
  // `target_bytes` 0: the decoder's own buffer.
  void SendPacket(const AVPacket& packet, uint64_t timestamp, size_t target_bytes, bool skip = false) {
    auto* sent = new Sent{this, std::make_unique<DeviceBytes>(std::vector<uint8_t>(packet.data, packet.data + packet.size)),
                          target_bytes == 0 ? nullptr : std::make_unique<DeviceBytes>(target_bytes)};
    acldvppStreamDesc* input = acldvppCreateStreamDesc();
    acldvppSetStreamDescData(input, sent->bytes->data());
    acldvppSetStreamDescSize(input, sent->bytes->size());
    acldvppSetStreamDescTimestamp(input, timestamp);
    if (skip) {
      ASSERT_EQ(aclvdecSendSkippedFrame(description_, input, nullptr, sent), ACL_SUCCESS);
      return;
    }
    acldvppPicDesc* output = acldvppCreatePicDesc();
    if (sent->target != nullptr) {
      acldvppSetPicDescData(output, sent->target->data());
      acldvppSetPicDescSize(output, sent->target->size());
      acldvppSetPicDescFormat(output, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    }
    ASSERT_EQ(aclvdecSendFrame(description_, input, output, nullptr, sent), ACL_SUCCESS);
  }
  void SendAll(const MediaFile& file, size_t target_bytes) {
    SendCodecData(file.codec_data());
    for (size_t i = 0; i < file.packets.size(); ++i) SendPacket(*file.packets[i], 1000 + i, target_bytes);
  }

  static void Callback(acldvppStreamDesc* input, acldvppPicDesc* output, void* user_data) {
    const std::unique_ptr<Sent> sent(static_cast<Sent*>(user_data));
    Received received;
    received.timestamp = acldvppGetStreamDescTimestamp(input);
    received.skipped = output == nullptr;
    { MutexLock pass(sent->test->gate_); }
    if (output != nullptr) {
      received.ret_code = acldvppGetPicDescRetCode(output);
      if (received.ret_code == 0) Download(*sent, output, received);
      acldvppDestroyPicDesc(output);
    }
    acldvppDestroyStreamDesc(input);
    sent->test->received_.push_back(std::move(received));
  }
  static void Download(const Sent& sent, const acldvppPicDesc* output, Received& received) {
    std::vector<uint8_t> bytes(acldvppGetPicDescSize(output));
    void* data = acldvppGetPicDescData(output);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), bytes.size(), data, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    const uint32_t width = acldvppGetPicDescWidth(output);
    const uint32_t height = acldvppGetPicDescHeight(output);
    const uint32_t stride = acldvppGetPicDescWidthStride(output);
    received.width_stride = stride;
    for (uint32_t y = 0; y < height; ++y) {
      received.luma.insert(received.luma.end(), &bytes[y * stride], &bytes[y * stride] + width);
    }
    const uint8_t* pairs = bytes.data() + static_cast<size_t>(stride) * acldvppGetPicDescHeightStride(output);
    for (uint32_t y = 0; y < (height + 1) / 2; ++y) {
      received.pairs.insert(received.pairs.end(), pairs + y * stride, pairs + y * stride + (width + 1) / 2 * 2);
    }
    size_t size = 0;
    EXPECT_EQ(aclvdecGetChannelDescParam(sent.test->description_, static_cast<aclvdecChannelDescParamType>(0x1000),
                                         sizeof received.colour, &size, &received.colour),
              ACL_SUCCESS);
    if (sent.test->keep_pictures_) {
      sent.test->kept_.push_back(data);
    } else if (sent.target == nullptr) {
      EXPECT_EQ(acldvppFree(data), ACL_SUCCESS);
    }
  }
  void ExpectPictures(const MediaFile& file) {
    const std::vector<ReferenceFrame> wanted = DecodeWithLibav(file);
    ASSERT_EQ(received_.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(received_[i].timestamp, 1000u + wanted[i].packet);
      EXPECT_EQ(received_[i].ret_code, 0u);
      EXPECT_TRUE(received_[i].luma == wanted[i].luma) << i;
      EXPECT_TRUE(received_[i].pairs == wanted[i].pairs) << i;
    }
  }

  std::optional<ReportThread> reports_;
  aclvdecChannelDesc* description_ = nullptr;
  std::vector<Received> received_;
  Mutex gate_;  // callbacks pass through it
  bool keep_pictures_ = false;
  std::vector<void*> kept_;
};

TEST_F(VdecTest, GivesPicturesInDisplayOrderInItsOwnBuffers) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h265_bframes.mp4");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(0x1001);
  SendAll(*file, 0);
  Close();
  ExpectPictures(*file);
  for (const Received& received : received_) EXPECT_EQ(received.width_stride % 64, 0u);
}

TEST_F(VdecTest, CopiesIntoTheApplicationsBuffer) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h264_annexb.h264");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(H264_HIGH_LEVEL);
  const int stride = (file->parameters->width + 15) / 16 * 16;
  SendAll(*file, stride * ((file->parameters->height + 1) / 2 * 2) * 3 / 2);
  Close();
  ExpectPictures(*file);
  for (const Received& received : received_) EXPECT_EQ(received.width_stride, static_cast<uint32_t>(stride));
}

TEST_F(VdecTest, ABufferThatIsTooSmallFailsItsPictureOnly) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h264_annexb.h264");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(H264_MAIN_LEVEL);
  SendPacket(*file->packets[0], 0, 1000);
  SendPacket(*file->packets[1], 1, 0);
  Close();
  ASSERT_EQ(received_.size(), 2u);
  std::sort(received_.begin(), received_.end(),
            [](const Received& a, const Received& b) { return a.timestamp < b.timestamp; });
  EXPECT_EQ(received_[0].ret_code, 1u);
  EXPECT_EQ(received_[1].ret_code, 0u);
}

TEST_F(VdecTest, EndOfStreamBringsEverythingOutAndAnotherStreamMayFollow) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h265_bframes.mp4");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(0x1001);
  for (int round = 0; round < 2; ++round) {
    SendAll(*file, 0);
    acldvppStreamDesc* end = acldvppCreateStreamDesc();
    acldvppSetStreamDescEos(end, 1);
    EXPECT_EQ(aclvdecSendFrame(description_, end, nullptr, nullptr, nullptr), ACL_SUCCESS);
    acldvppDestroyStreamDesc(end);
  }
  Close();
  ASSERT_EQ(received_.size(), 2 * file->packets.size());
  const size_t half = file->packets.size();
  for (size_t i = 0; i < half; ++i) {
    EXPECT_EQ(received_[i].ret_code, 0u);
    EXPECT_TRUE(received_[i].luma == received_[half + i].luma);
  }
}

TEST_F(VdecTest, SkippedFramesAreDecodedButNotGivenOut) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h264_longgop.mp4");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(0x1000);
  SendCodecData(file->codec_data());
  for (size_t i = 0; i < file->packets.size(); ++i) SendPacket(*file->packets[i], 1000 + i, 0, i % 2 == 1);
  Close();
  const std::vector<ReferenceFrame> wanted = DecodeWithLibav(*file);
  ASSERT_EQ(received_.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(received_[i].skipped, wanted[i].packet % 2 == 1);
    if (!received_[i].skipped) {
      EXPECT_TRUE(received_[i].luma == wanted[i].luma) << i;
    }
  }
}

TEST_F(VdecTest, MotionJpegSaysThatItsRangeIsFull) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_mjpeg_17x3840.avi");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(0x1002);
  SendAll(*file, 0);
  Close();
  ASSERT_EQ(received_.size(), file->packets.size());
  for (const Received& received : received_) EXPECT_EQ(received.colour & 0x500, 0x500u);
}

TEST_F(VdecTest, DamageIsReportedPerPacketAndTheChannelGoesOn) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h264_annexb.h264");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(H264_HIGH_LEVEL);
  AvPacket noise(av_packet_alloc());
  ASSERT_EQ(av_new_packet(noise.get(), 500), 0);
  std::memset(noise->data, 0x5a, noise->size);
  SendPacket(*noise, 1, 0);
  for (size_t i = 0; i < file->packets.size(); ++i) SendPacket(*file->packets[i], 1000 + i, 0);
  Close();
  ASSERT_EQ(received_.size(), file->packets.size() + 1);
  EXPECT_EQ(std::count_if(received_.begin(), received_.end(), [](const Received& r) { return r.ret_code == 1; }), 1);
  const auto failed = std::find_if(received_.begin(), received_.end(), [](const Received& r) { return r.ret_code == 1; });
  EXPECT_EQ(failed->timestamp, 1u);
}

TEST_F(VdecTest, DecodingPausesWhileCallbacksDoNotRun) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h264_annexb.h264");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  Open(H264_HIGH_LEVEL);
  {
    MutexLock stop(gate_);
    SendAll(*file, 0);  // returns although no callback can run
    // The channel holds one picture more than the bound while it waits.
    EXPECT_LE(OwnedPictures::Instance().size(), static_cast<size_t>(VdecSession::kWaitingPictures) + 1);
  }
  Close();
  ExpectPictures(*file);
  EXPECT_EQ(OwnedPictures::Instance().size(), 0u);
}

TEST_F(VdecTest, PicturesOutliveTheirChannel) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "robust/gen_h264_annexb.h264");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  keep_pictures_ = true;
  Open(H264_HIGH_LEVEL);
  SendAll(*file, 0);
  Close();
  ASSERT_EQ(kept_.size(), file->packets.size());
  for (void* data : kept_) EXPECT_EQ(acldvppFree(data), ACL_SUCCESS);
  EXPECT_NE(acldvppFree(kept_.front()), ACL_SUCCESS) << "given back twice";
}

TEST_F(VdecTest, RefusesWrongUse) {
  aclvdecChannelDesc* description = aclvdecCreateChannelDesc();
  EXPECT_EQ(aclvdecCreateChannel(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclvdecCreateChannel(description), ACL_ERROR_INVALID_PARAM) << "no callback, no thread";
  aclvdecSetChannelDescThreadId(description, reports_->id());
  aclvdecSetChannelDescCallback(description, Callback);
  aclvdecSetChannelDescEnType(description, static_cast<acldvppStreamFormat>(0x1fff));
  EXPECT_EQ(aclvdecCreateChannel(description), ACL_ERROR_INVALID_PARAM) << "no such codec";
  EXPECT_EQ(aclvdecDestroyChannel(description), ACL_ERROR_INVALID_PARAM) << "never created";
  EXPECT_EQ(aclvdecSendFrame(description, nullptr, nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  aclvdecSetChannelDescEnType(description, H264_MAIN_LEVEL);
  EXPECT_EQ(aclvdecCreateChannel(description), ACL_SUCCESS);
  EXPECT_EQ(aclvdecCreateChannel(description), ACL_ERROR_INVALID_PARAM) << "twice";
  EXPECT_EQ(aclvdecDestroyChannelDesc(description), ACL_ERROR_INVALID_PARAM) << "in use";
  acldvppStreamDesc* input = acldvppCreateStreamDesc();
  EXPECT_EQ(aclvdecSendFrame(description, input, nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM) << "no data";
  std::vector<uint8_t> host(100);
  acldvppSetStreamDescData(input, host.data());
  acldvppSetStreamDescSize(input, 100);
  acldvppPicDesc* output = acldvppCreatePicDesc();
  EXPECT_NE(aclvdecSendFrame(description, input, output, nullptr, nullptr), ACL_SUCCESS) << "host memory";
  acldvppDestroyPicDesc(output);
  acldvppDestroyStreamDesc(input);
  EXPECT_EQ(aclvdecDestroyChannel(description), ACL_SUCCESS);
  EXPECT_EQ(aclvdecDestroyChannelDesc(description), ACL_SUCCESS);
}

}  // namespace
}  // namespace npustream::dvpp
