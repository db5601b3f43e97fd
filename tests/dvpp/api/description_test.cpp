#include "tests/dvpp/api/acl_session.h"

namespace npustream::dvpp {
namespace {

TEST(Descriptions, PictureKeepsWhatIsSet) {
  acldvppPicDesc* picture = acldvppCreatePicDesc();
  ASSERT_NE(picture, nullptr);
  int data = 0;
  EXPECT_EQ(acldvppSetPicDescData(picture, &data), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescSize(picture, 7), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescFormat(picture, PIXEL_FORMAT_RGB_888), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescWidth(picture, 1), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescHeight(picture, 2), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescWidthStride(picture, 3), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescHeightStride(picture, 4), ACL_SUCCESS);
  EXPECT_EQ(acldvppSetPicDescRetCode(picture, 5), ACL_SUCCESS);
  EXPECT_EQ(acldvppGetPicDescData(picture), &data);
  EXPECT_EQ(acldvppGetPicDescSize(picture), 7u);
  EXPECT_EQ(acldvppGetPicDescFormat(picture), PIXEL_FORMAT_RGB_888);
  EXPECT_EQ(acldvppGetPicDescWidth(picture), 1u);
  EXPECT_EQ(acldvppGetPicDescHeight(picture), 2u);
  EXPECT_EQ(acldvppGetPicDescWidthStride(picture), 3u);
  EXPECT_EQ(acldvppGetPicDescHeightStride(picture), 4u);
  EXPECT_EQ(acldvppGetPicDescRetCode(picture), 5u);
  EXPECT_EQ(acldvppDestroyPicDesc(picture), ACL_SUCCESS);
}

TEST(Descriptions, NullIsRefusedEverywhere) {
  EXPECT_EQ(acldvppDestroyPicDesc(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppSetPicDescWidth(nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppGetPicDescWidth(nullptr), 0u);
  EXPECT_EQ(acldvppSetStreamDescEos(nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppDestroyRoiConfig(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclvdecSetChannelDescChannelId(nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppCreateChannel(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppGetPicDesc(nullptr, 0), nullptr);
  EXPECT_EQ(acldvppGetBorderConfigValue(nullptr, 0), -1.0);
}

TEST(Descriptions, BatchOwnsItsPictures) {
  EXPECT_EQ(acldvppCreateBatchPicDesc(0), nullptr);
  acldvppBatchPicDesc* batch = acldvppCreateBatchPicDesc(3);
  ASSERT_NE(batch, nullptr);
  EXPECT_NE(acldvppGetPicDesc(batch, 2), nullptr);
  EXPECT_NE(acldvppGetPicDesc(batch, 2), acldvppGetPicDesc(batch, 1));
  EXPECT_EQ(acldvppGetPicDesc(batch, 3), nullptr);
  EXPECT_EQ(acldvppDestroyBatchPicDesc(batch), ACL_SUCCESS);
}

TEST(Descriptions, VdecParametersAreTheFieldsOfTheSetters) {
  aclvdecChannelDesc* channel = aclvdecCreateChannelDesc();
  const uint32_t mode = 1;
  EXPECT_EQ(aclvdecSetChannelDescParam(channel, ACL_VDEC_OUT_MODE_UINT32, sizeof mode, &mode), ACL_SUCCESS);
  EXPECT_EQ(aclvdecGetChannelDescOutMode(channel), 1u);
  EXPECT_EQ(aclvdecSetChannelDescRefFrameNum(channel, 9), ACL_SUCCESS);
  uint32_t frames = 0;
  size_t size = 0;
  EXPECT_EQ(aclvdecGetChannelDescParam(channel, ACL_VDEC_REF_FRAME_NUM_UINT32, sizeof frames, &size, &frames),
            ACL_SUCCESS);
  EXPECT_EQ(frames, 9u);
  EXPECT_EQ(size, sizeof frames);
  EXPECT_EQ(aclvdecSetChannelDescParam(channel, ACL_VDEC_OUT_MODE_UINT32, 3, &mode), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclvdecDestroyChannelDesc(channel), ACL_SUCCESS);
}

TEST(Descriptions, LutMapBeginsAsTheIdentity) {
  acldvppLutMap* map = acldvppCreateLutMap();
  ASSERT_EQ(acldvppGetLutMapDims(map), 3u);
  uint8_t* table = nullptr;
  uint32_t length = 0;
  ASSERT_EQ(acldvppGetLutMapData(map, 2, &table, &length), ACL_SUCCESS);
  ASSERT_EQ(length, 256u);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(table[i], i);
  EXPECT_EQ(acldvppGetLutMapData(map, 3, &table, &length), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppDestroyLutMap(map), ACL_SUCCESS);
}

}  // namespace
}  // namespace npustream::dvpp
