#include <memory>
#include <vector>

#include "tests/runtime/acl/acl_test.h"
#include "tests/runtime/acl/test_models.h"

namespace npustream::acl_test {
namespace {

class AclModelDescription : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    description_ = aclmdlCreateDesc();
  }
  void TearDown() override {
    EXPECT_ACL_OK(aclmdlDestroyDesc(description_));
    if (id_ != 0) {
      EXPECT_ACL_OK(aclmdlUnload(id_));
    }
    AclTest::TearDown();
  }
  void Load(const std::string& path) {
    ASSERT_ACL_OK(aclmdlLoadFromFile(path.c_str(), &id_));
    ASSERT_ACL_OK(aclmdlGetDesc(description_, id_));
  }
  static std::vector<int64_t> Dims(const aclmdlIODims& dims) { return {dims.dims, dims.dims + dims.dimCount}; }

  aclmdlDesc* description_ = nullptr;
  uint32_t id_ = 0;
};

using DimsList = std::vector<int64_t>;

TEST_F(AclModelDescription, TellsInputsAndOutputs) {
  Load(WriteAddRelu());
  EXPECT_EQ(aclmdlGetNumInputs(description_), 1u);
  EXPECT_EQ(aclmdlGetNumOutputs(description_), 1u);
  EXPECT_STREQ(aclmdlGetInputNameByIndex(description_, 0), "x");
  EXPECT_STREQ(aclmdlGetOutputNameByIndex(description_, 0), "y");
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 0), 16u);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(description_, 0), 16u);
  EXPECT_EQ(aclmdlGetInputDataType(description_, 0), ACL_FLOAT);
  EXPECT_EQ(aclmdlGetOutputDataType(description_, 0), ACL_FLOAT);
  EXPECT_EQ(aclmdlGetInputFormat(description_, 0), ACL_FORMAT_ND);
  EXPECT_EQ(aclmdlGetOutputFormat(description_, 0), ACL_FORMAT_ND);
  size_t index = 9;
  EXPECT_ACL_OK(aclmdlGetInputIndexByName(description_, "x", &index));
  EXPECT_EQ(index, 0u);
  EXPECT_ACL_OK(aclmdlGetOutputIndexByName(description_, "y", &index));
  EXPECT_EQ(aclmdlGetInputIndexByName(description_, "z", &index), 100000);
  aclmdlIODims dims;
  EXPECT_ACL_OK(aclmdlGetInputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, 4}));
  EXPECT_STREQ(dims.name, "x");
  EXPECT_ACL_OK(aclmdlGetOutputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, 4}));
  aclmdlBatch batch;
  EXPECT_ACL_OK(aclmdlGetDynamicBatch(description_, &batch));
  EXPECT_EQ(batch.batchCount, 0u);
}

TEST_F(AclModelDescription, OutsideTheIndicesThereIsNothing) {
  Load(WriteAddRelu());
  aclmdlIODims dims;
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 1), 0u);
  EXPECT_STREQ(aclmdlGetInputNameByIndex(description_, 1), "");
  EXPECT_EQ(aclmdlGetOutputDataType(description_, 1), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclmdlGetInputDims(description_, 1, &dims), 100000);
  EXPECT_NE(Sentence().find("input 1"), std::string::npos);
}

TEST_F(AclModelDescription, AnEmptyOrDeadOneIsAnErrorAndNoCrash) {
  EXPECT_EQ(aclmdlGetNumInputs(description_), 0u);
  EXPECT_NE(Sentence().find("aclmdlGetDesc"), std::string::npos);
  EXPECT_EQ(aclmdlGetDesc(description_, 123456), 145003);
  aclmdlDesc* dead = aclmdlCreateDesc();
  EXPECT_ACL_OK(aclmdlDestroyDesc(dead));
  EXPECT_EQ(aclmdlDestroyDesc(dead), 100000);
  EXPECT_EQ(aclmdlGetNumOutputs(dead), 0u);
  EXPECT_EQ(aclmdlGetNumInputs(nullptr), 0u);
}

TEST_F(AclModelDescription, OutlivesItsModel) {
  Load(WriteAddRelu());
  EXPECT_ACL_OK(aclmdlUnload(id_));
  id_ = 0;
  aclmdlIODims dims;
  EXPECT_STREQ(aclmdlGetInputNameByIndex(description_, 0), "x");
  EXPECT_ACL_OK(aclmdlGetCurOutputDims(description_, 0, &dims));
}

TEST_F(AclModelDescription, ADynamicBatchShowsAsMinusOneAndTheLargestGear) {
  Load(WriteDynamicAddRelu());
  size_t index = 0;
  EXPECT_EQ(aclmdlGetNumInputs(description_), 2u);
  EXPECT_ACL_OK(aclmdlGetInputIndexByName(description_, ACL_DYNAMIC_TENSOR_NAME, &index));
  EXPECT_EQ(index, 1u);
  EXPECT_GT(aclmdlGetInputSizeByIndex(description_, 1), 0u);
  aclmdlIODims dims;
  EXPECT_ACL_OK(aclmdlGetInputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{-1, 4}));
  EXPECT_ACL_OK(aclmdlGetOutputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{4, 4}));
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 0), 4u * 16);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(description_, 0), 4u * 16);
  aclmdlBatch batch;
  EXPECT_ACL_OK(aclmdlGetDynamicBatch(description_, &batch));
  ASSERT_EQ(batch.batchCount, 3u);
  EXPECT_EQ((std::vector<uint64_t>{batch.batch, batch.batch + 3}), (std::vector<uint64_t>{1, 2, 4}));
}

TEST_F(AclModelDescription, ImageSizesShowAsMinusOneAndAreListed) {
  Load(WriteReluOfGears(true));
  EXPECT_EQ(aclmdlGetNumInputs(description_), 3u);
  EXPECT_STREQ(aclmdlGetInputNameByIndex(description_, 2), ACL_DYNAMIC_TENSOR_NAME);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 2), 2 * sizeof(uint64_t));
  aclmdlIODims dims;
  EXPECT_ACL_OK(aclmdlGetInputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, 1, -1, -1}));
  EXPECT_ACL_OK(aclmdlGetInputDims(description_, 1, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1}));
  EXPECT_ACL_OK(aclmdlGetOutputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, 1, 4, 4}));
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 0), 16u * 4);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 1), 4u);
  auto sizes = std::make_unique<aclmdlHW>();
  EXPECT_ACL_OK(aclmdlGetDynamicHW(description_, -1, sizes.get()));
  ASSERT_EQ(sizes->hwCount, 3u);
  EXPECT_EQ(sizes->hw[0][0], 4u);
  EXPECT_EQ(sizes->hw[1][0], 1u);
  EXPECT_EQ(sizes->hw[1][1], 2u);
  EXPECT_EQ(sizes->hw[2][1], 1u);
  aclmdlBatch batch;
  EXPECT_ACL_OK(aclmdlGetDynamicBatch(description_, &batch));
  EXPECT_EQ(batch.batchCount, 0u);
  size_t gears = 9;
  EXPECT_ACL_OK(aclmdlGetInputDynamicGearCount(description_, -1, &gears));
  EXPECT_EQ(gears, 0u);
}

TEST_F(AclModelDescription, DynamicDimsAreListedForAllInputsInARow) {
  Load(WriteReluOfGears(false));
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 2), 2 * sizeof(uint64_t));
  size_t gears = 0;
  EXPECT_ACL_OK(aclmdlGetInputDynamicGearCount(description_, -1, &gears));
  ASSERT_EQ(gears, 3u);
  std::vector<aclmdlIODims> dims(gears);
  EXPECT_EQ(aclmdlGetInputDynamicDims(description_, -1, dims.data(), 2), 100000);
  EXPECT_ACL_OK(aclmdlGetInputDynamicDims(description_, -1, dims.data(), gears));
  EXPECT_EQ(Dims(dims[0]), (DimsList{1, 1, 4, 4, 1}));
  EXPECT_EQ(Dims(dims[1]), (DimsList{1, 1, 1, 2, 1}));
  EXPECT_EQ(Dims(dims[2]), (DimsList{1, 1, 2, 1, 1}));
  auto sizes = std::make_unique<aclmdlHW>();
  EXPECT_ACL_OK(aclmdlGetDynamicHW(description_, -1, sizes.get()));
  EXPECT_EQ(sizes->hwCount, 0u);
}

TEST_F(AclModelDescription, StaticAippTakesThePictureAndTellsItsParameters) {
  Load(WriteAippModel());
  EXPECT_EQ(aclmdlGetInputDataType(description_, 0), ACL_UINT8);
  EXPECT_EQ(aclmdlGetInputFormat(description_, 0), ACL_FORMAT_NHWC);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 0), 32u * 16 * 3 / 2);
  aclmdlIODims dims;
  EXPECT_ACL_OK(aclmdlGetInputDimsV2(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, 24, 32, 1}));
  EXPECT_ACL_OK(aclmdlGetInputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, 16, 32, 3}));

  auto info = std::make_unique<aclAippInfo>();
  ASSERT_ACL_OK(aclmdlGetFirstAippInfo(id_, 0, info.get()));
  EXPECT_EQ(info->inputFormat, ACL_YUV420SP_U8);
  EXPECT_EQ(info->srcImageSizeW, 32);
  EXPECT_EQ(info->srcImageSizeH, 16);
  EXPECT_EQ(info->cscSwitch, 0);
  EXPECT_EQ(info->matrixR0C1, 516);
  EXPECT_EQ(info->inputBias0, 16);
  EXPECT_EQ(info->minChn2, 3);
  EXPECT_EQ(info->varReciChn1, 0.5f);
  ASSERT_EQ(info->shapeCount, 1u);
  EXPECT_EQ(Dims(info->outDims[0].srcDims), (DimsList{1, 24, 32, 1}));
  EXPECT_EQ(info->outDims[0].srcSize, 32u * 16 * 3 / 2);

  aclmdlInputAippType type = ACL_DATA_WITHOUT_AIPP;
  size_t attached = 0;
  EXPECT_ACL_OK(aclmdlGetAippType(id_, 0, &type, &attached));
  EXPECT_EQ(type, ACL_DATA_WITH_STATIC_AIPP);
  EXPECT_EQ(attached, size_t{0xFFFFFFFF});
}

TEST_F(AclModelDescription, StaticAippWithImageSizesHasTheShapesOfAllOfThem) {
  Load(WriteAippModelOfSizes());
  aclmdlIODims dims;
  EXPECT_ACL_OK(aclmdlGetInputDimsV2(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, -1, -1, 1}));
  EXPECT_ACL_OK(aclmdlGetInputDims(description_, 0, &dims));
  EXPECT_EQ(Dims(dims), (DimsList{1, -1, -1, 3}));
  EXPECT_EQ(aclmdlGetInputSizeByIndex(description_, 0), 16u * 32 * 3 / 2);
  auto info = std::make_unique<aclAippInfo>();
  ASSERT_ACL_OK(aclmdlGetFirstAippInfo(id_, 0, info.get()));
  EXPECT_EQ(info->srcImageSizeW, 0);
  EXPECT_EQ(info->srcImageSizeH, 0);
  ASSERT_EQ(info->shapeCount, 2u);
  EXPECT_EQ(Dims(info->outDims[0].srcDims), (DimsList{1, 24, 32, 1}));
  EXPECT_EQ(Dims(info->outDims[0].aippOutdims), (DimsList{1, 16, 32, 3}));
  EXPECT_EQ(Dims(info->outDims[1].srcDims), (DimsList{1, 12, 64, 1}));
  EXPECT_EQ(Dims(info->outDims[1].aippOutdims), (DimsList{1, 8, 64, 3}));
  EXPECT_EQ(info->outDims[1].srcSize, 8u * 64 * 3 / 2);
}

TEST_F(AclModelDescription, WithoutStaticAippItIs100038) {
  Load(WriteAddRelu());
  auto info = std::make_unique<aclAippInfo>();
  EXPECT_EQ(aclmdlGetFirstAippInfo(id_, 0, info.get()), 100038);
  EXPECT_EQ(aclmdlGetFirstAippInfo(id_, 5, info.get()), 100000);
  aclmdlInputAippType type = ACL_DATA_WITH_STATIC_AIPP;
  size_t attached = 0;
  EXPECT_ACL_OK(aclmdlGetAippType(id_, 0, &type, &attached));
  EXPECT_EQ(type, ACL_DATA_WITHOUT_AIPP);
}

}  // namespace
}  // namespace npustream::acl_test
