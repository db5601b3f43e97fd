#include "tests/dvpp/api/acl_session.h"

namespace npustream::dvpp {
namespace {

class VpcTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    channel_ = acldvppCreateChannelDesc();
    ASSERT_EQ(acldvppCreateChannel(channel_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    resize_ = acldvppCreateResizeConfig();
  }
  void TearDown() override {
    EXPECT_EQ(acldvppDestroyResizeConfig(resize_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(acldvppDestroyChannel(channel_), ACL_SUCCESS);
    EXPECT_EQ(acldvppDestroyChannelDesc(channel_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  acldvppChannelDesc* channel_ = nullptr;
  aclrtStream stream_ = nullptr;
  acldvppResizeConfig* resize_ = nullptr;
};

// NV12 in device memory whose luma is `luma` and chroma (u, v) everywhere.
struct Nv12 {
  Nv12(uint32_t width, uint32_t height, uint8_t luma, uint8_t u, uint8_t v)
      : stride((width + 15) / 16 * 16), rows((height + 1) / 2 * 2), bytes(Fill(luma, u, v)),
        description(acldvppCreatePicDesc()) {
    acldvppSetPicDescData(description, bytes.data());
    acldvppSetPicDescSize(description, bytes.size());
    acldvppSetPicDescFormat(description, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    acldvppSetPicDescWidth(description, width);
    acldvppSetPicDescHeight(description, height);
    acldvppSetPicDescWidthStride(description, stride);
    acldvppSetPicDescHeightStride(description, rows);
  }
  ~Nv12() { acldvppDestroyPicDesc(description); }

  std::vector<uint8_t> Fill(uint8_t luma, uint8_t u, uint8_t v) const {
    std::vector<uint8_t> content(stride * rows * 3 / 2, luma);
    for (size_t i = stride * rows; i < content.size(); i += 2) {
      content[i] = u;
      content[i + 1] = v;
    }
    return content;
  }

  uint32_t stride;
  uint32_t rows;
  DeviceBytes bytes;
  acldvppPicDesc* description;
};

TEST_F(VpcTest, CropResizePasteFillsItsAreaAndNothingElse) {
  const Nv12 source(64, 48, 200, 90, 160);
  const Nv12 target(128, 64, 16, 128, 128);
  acldvppRoiConfig* crop = acldvppCreateRoiConfig(2, 61, 4, 43);
  acldvppRoiConfig* paste = acldvppCreateRoiConfig(32, 95, 8, 49);
  ASSERT_EQ(acldvppVpcCropResizePasteAsync(channel_, source.description, target.description, crop, paste, resize_,
                                           stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const std::vector<uint8_t> result = target.bytes.Download();
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 128; ++x) {
      const bool inside = x >= 32 && x <= 95 && y >= 8 && y <= 49;
      ASSERT_EQ(result[y * 128 + x], inside ? 200 : 16) << x << "," << y;
      ASSERT_EQ(result[(64 + y / 2) * 128 + x], inside ? (x % 2 == 0 ? 90 : 160) : 128) << x << "," << y;
    }
  }
  acldvppDestroyRoiConfig(crop);
  acldvppDestroyRoiConfig(paste);
}

TEST_F(VpcTest, DescriptionsMayGoBeforeTheWorkIsDone) {
  const Nv12 source(64, 48, 77, 90, 160);
  const Nv12 target(32, 32, 0, 0, 0);
  acldvppResizeConfig* config = acldvppCreateResizeConfig();
  acldvppPicDesc* input = acldvppCreatePicDesc();
  acldvppSetPicDescData(input, source.bytes.data());
  acldvppSetPicDescSize(input, source.bytes.size());
  acldvppSetPicDescFormat(input, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
  acldvppSetPicDescWidth(input, 64);
  acldvppSetPicDescHeight(input, 48);
  acldvppSetPicDescWidthStride(input, 64);
  acldvppSetPicDescHeightStride(input, 48);
  ASSERT_EQ(acldvppVpcResizeAsync(channel_, input, target.description, config, stream_), ACL_SUCCESS);
  acldvppDestroyPicDesc(input);
  acldvppDestroyResizeConfig(config);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(target.bytes.Download(), target.Fill(77, 90, 160));
}

TEST_F(VpcTest, BatchGivesEveryAreaItsPicture) {
  const Nv12 first(64, 48, 50, 1, 2);
  const Nv12 second(32, 32, 60, 3, 4);
  const Nv12 out0(32, 16, 0, 0, 0), out1(48, 48, 0, 0, 0), out2(16, 16, 0, 0, 0);
  acldvppBatchPicDesc* sources = acldvppCreateBatchPicDesc(2);
  acldvppBatchPicDesc* targets = acldvppCreateBatchPicDesc(3);
  const auto put = [](acldvppBatchPicDesc* batch, uint32_t i, const Nv12& picture) {
    acldvppPicDesc* slot = acldvppGetPicDesc(batch, i);
    acldvppSetPicDescData(slot, acldvppGetPicDescData(picture.description));
    acldvppSetPicDescSize(slot, acldvppGetPicDescSize(picture.description));
    acldvppSetPicDescFormat(slot, acldvppGetPicDescFormat(picture.description));
    acldvppSetPicDescWidth(slot, acldvppGetPicDescWidth(picture.description));
    acldvppSetPicDescHeight(slot, acldvppGetPicDescHeight(picture.description));
    acldvppSetPicDescWidthStride(slot, acldvppGetPicDescWidthStride(picture.description));
    acldvppSetPicDescHeightStride(slot, acldvppGetPicDescHeightStride(picture.description));
  };
  put(sources, 0, first);
  put(sources, 1, second);
  put(targets, 0, out0);
  put(targets, 1, out1);
  put(targets, 2, out2);
  acldvppRoiConfig* crops[3] = {acldvppCreateRoiConfig(0, 31, 0, 31), acldvppCreateRoiConfig(8, 63, 8, 47),
                                acldvppCreateRoiConfig(0, 31, 0, 31)};
  uint32_t counts[2] = {2, 1};
  ASSERT_EQ(acldvppVpcBatchCropResizeAsync(channel_, sources, counts, 2, targets, crops, resize_, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(out0.bytes.Download(), out0.Fill(50, 1, 2));
  EXPECT_EQ(out1.bytes.Download(), out1.Fill(50, 1, 2));
  EXPECT_EQ(out2.bytes.Download(), out2.Fill(60, 3, 4));
  counts[1] = 2;  // one area more than there are pictures
  EXPECT_EQ(acldvppVpcBatchCropResizeAsync(channel_, sources, counts, 2, targets, crops, resize_, stream_),
            ACL_ERROR_INVALID_PARAM);
  for (acldvppRoiConfig* crop : crops) acldvppDestroyRoiConfig(crop);
  acldvppDestroyBatchPicDesc(sources);
  acldvppDestroyBatchPicDesc(targets);
}

TEST_F(VpcTest, LutChangesThePictureInPlace) {
  const Nv12 picture(48, 32, 10, 20, 30);
  acldvppLutMap* map = acldvppCreateLutMap();
  for (uint32_t dim = 0; dim < 3; ++dim) {
    uint8_t* table = nullptr;
    uint32_t length = 0;
    ASSERT_EQ(acldvppGetLutMapData(map, dim, &table, &length), ACL_SUCCESS);
    table[10 * (dim + 1)] = static_cast<uint8_t>(100 + dim);
  }
  ASSERT_EQ(acldvppVpcEqualizeHistAsync(channel_, picture.description, picture.description, map, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(acldvppDestroyLutMap(map), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(picture.bytes.Download(), picture.Fill(100, 101, 102));
}

TEST_F(VpcTest, WrongArgumentsHaveTheDocumentedCode) {
  const Nv12 source(64, 48, 1, 1, 1);
  const Nv12 target(64, 48, 1, 1, 1);
  acldvppRoiConfig* inside = acldvppCreateRoiConfig(0, 63, 0, 47);
  acldvppRoiConfig* beyond = acldvppCreateRoiConfig(0, 64, 0, 47);
  acldvppRoiConfig* backwards = acldvppCreateRoiConfig(9, 8, 0, 47);
  acldvppRoiConfig* unaligned = acldvppCreateRoiConfig(8, 63, 0, 47);
  acldvppChannelDesc* never_created = acldvppCreateChannelDesc();
  const auto call = [&](acldvppChannelDesc* channel, acldvppPicDesc* in, acldvppPicDesc* out, acldvppRoiConfig* crop,
                        acldvppRoiConfig* paste) {
    return acldvppVpcCropResizePasteAsync(channel, in, out, crop, paste, resize_, stream_);
  };
  acldvppPicDesc* in = source.description;
  acldvppPicDesc* out = target.description;
  EXPECT_EQ(call(channel_, in, out, inside, inside), ACL_SUCCESS);
  EXPECT_EQ(call(nullptr, in, out, inside, inside), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call(never_created, in, out, inside, inside), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call(channel_, nullptr, out, inside, inside), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call(channel_, in, out, nullptr, inside), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call(channel_, in, out, beyond, inside), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call(channel_, in, out, backwards, inside), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call(channel_, in, out, inside, unaligned), ACL_ERROR_INVALID_PARAM);
  acldvppSetPicDescWidthStride(in, 62);
  EXPECT_EQ(call(channel_, in, out, inside, inside), ACL_ERROR_INVALID_PARAM);
  acldvppSetPicDescWidthStride(in, 72);  // not a multiple of 16
  EXPECT_EQ(call(channel_, in, out, inside, inside), ACL_ERROR_INVALID_PARAM);
  acldvppSetPicDescWidthStride(in, 64);
  acldvppSetPicDescSize(in, source.bytes.size() - 1);
  EXPECT_EQ(call(channel_, in, out, inside, inside), ACL_ERROR_INVALID_PARAM);
  acldvppSetPicDescSize(in, source.bytes.size());
  std::vector<uint8_t> host(source.bytes.size());
  acldvppSetPicDescData(in, host.data());
  EXPECT_NE(call(channel_, in, out, inside, inside), ACL_SUCCESS) << "host memory is not the device's";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  acldvppDestroyChannelDesc(never_created);
  for (acldvppRoiConfig* roi : {inside, beyond, backwards, unaligned}) acldvppDestroyRoiConfig(roi);
}

}  // namespace
}  // namespace npustream::dvpp
