#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/runtime/acl/acl_test.h"

namespace npustream::acl_test {
namespace {

// IEEE 754 binary16 by the standard's own definition: sign · 2^(e−15) · (1 + f/1024), subnormal 2^-14 · f/1024.
float Binary16(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

TEST(AclFloat16, AllValuesAreReadAndWrittenBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const float expected = Binary16(half);
    const float value = aclFloat16ToFloat(half);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(Binary16(aclFloatToFloat16(value)))) << bits;
      continue;
    }
    ASSERT_EQ(value, expected) << bits;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    ASSERT_EQ(aclFloatToFloat16(value), half) << bits;
  }
}

TEST(AclFloat16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(aclFloatToFloat16(1.0f + 0x1p-11f), 0x3c00);      // half way: to the even one below
  EXPECT_EQ(aclFloatToFloat16(1.0f + 3 * 0x1p-11f), 0x3c02);  // half way: to the even one above
  EXPECT_EQ(aclFloatToFloat16(std::nextafter(1.0f + 0x1p-11f, 2.0f)), 0x3c01);
  EXPECT_EQ(aclFloatToFloat16(65519.0f), 0x7bff);  // 65504
  EXPECT_EQ(aclFloatToFloat16(65520.0f), 0x7c00);  // half way to 65536: infinity
  EXPECT_EQ(aclFloatToFloat16(1e30f), 0x7c00);
  EXPECT_EQ(aclFloatToFloat16(0x1p-25f), 0x0000);
  EXPECT_EQ(aclFloatToFloat16(std::nextafter(0x1p-25f, 1.0f)), 0x0001);
  EXPECT_EQ(aclFloatToFloat16(-0x1p-24f), 0x8001);
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(aclFloatToFloat16(0x1.ffcp-15f), 0x0400);  // the largest subnormal and a half: the smallest normal
}

TEST(AclDataTypeSize, KnowsEveryTypeOfWholeBytes) {
  EXPECT_EQ(aclDataTypeSize(ACL_FLOAT), 4u);
  EXPECT_EQ(aclDataTypeSize(ACL_FLOAT16), 2u);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2u);
  EXPECT_EQ(aclDataTypeSize(ACL_UINT8), 1u);
  EXPECT_EQ(aclDataTypeSize(ACL_INT64), 8u);
  EXPECT_EQ(aclDataTypeSize(ACL_COMPLEX128), 16u);
  EXPECT_EQ(aclDataTypeSize(ACL_INT4), 0u);
  EXPECT_EQ(aclDataTypeSize(ACL_DT_UNDEFINED), 0u);
}

TEST(AclDataBuffer, KeepsAddressAndSizeUntilItIsDestroyed) {
  int number = 0;
  aclDataBuffer* buffer = aclCreateDataBuffer(&number, sizeof number);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &number);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 4u);
  EXPECT_ACL_OK(aclUpdateDataBuffer(buffer, nullptr, size_t{5} << 30));
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), size_t{5} << 30);
  EXPECT_ACL_OK(aclDestroyDataBuffer(buffer));
  EXPECT_EQ(aclDestroyDataBuffer(buffer), 100000);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 0u);
  EXPECT_EQ(aclDestroyDataBuffer(nullptr), 100000);
}

TEST(AclDataset, HoldsBuffersInOrder) {
  aclmdlDataset* dataset = aclmdlCreateDataset();
  aclDataBuffer* first = aclCreateDataBuffer(nullptr, 1);
  aclDataBuffer* second = aclCreateDataBuffer(nullptr, 2);
  EXPECT_ACL_OK(aclmdlAddDatasetBuffer(dataset, first));
  EXPECT_ACL_OK(aclmdlAddDatasetBuffer(dataset, second));
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(dataset), 2u);
  EXPECT_EQ(aclmdlGetDatasetBuffer(dataset, 1), second);
  EXPECT_EQ(aclmdlGetDatasetBuffer(dataset, 2), nullptr);
  EXPECT_ACL_OK(aclDestroyDataBuffer(first));
  EXPECT_EQ(aclmdlAddDatasetBuffer(dataset, first), 100000);
  EXPECT_ACL_OK(aclmdlDestroyDataset(dataset));
  EXPECT_EQ(aclmdlDestroyDataset(dataset), 100000);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(dataset), 0u);
  EXPECT_EQ(aclGetDataBufferSize(second), 2u);  // the buffers are the caller's
  EXPECT_ACL_OK(aclDestroyDataBuffer(second));
}

TEST(AclTensorDesc, TellsSizesAndDims) {
  const int64_t dims[] = {2, 3, 5};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT16, 3, dims, ACL_FORMAT_ND);
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 30u);
  EXPECT_EQ(aclGetTensorDescSize(desc), 60u);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 3u);
  EXPECT_EQ(aclGetTensorDescDim(desc, 2), 5);
  EXPECT_EQ(aclGetTensorDescDim(desc, 3), -1);
  aclSetTensorDescName(desc, "x");
  EXPECT_STREQ(aclGetTensorDescName(desc), "x");
  const int64_t unknown[] = {-1, 3};
  EXPECT_ACL_OK(aclSetTensorShape(desc, 2, unknown));
  EXPECT_EQ(aclGetTensorDescSize(desc), 0u);
  aclDestroyTensorDesc(desc);
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, nullptr, ACL_FORMAT_ND), nullptr);
}

}  // namespace
}  // namespace npustream::acl_test
