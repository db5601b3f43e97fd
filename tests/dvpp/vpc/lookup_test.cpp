#include "dvpp/vpc/lookup.h"

#include <gtest/gtest.h>

#include "tests/dvpp/test_picture.h"

namespace npustream::dvpp {
namespace {

LookupTables DistinctTables() {
  LookupTables tables;
  for (int i = 0; i < 256; ++i) {
    tables[0][i] = static_cast<uint8_t>(255 - i);
    tables[1][i] = static_cast<uint8_t>(i ^ 0x5a);
    tables[2][i] = static_cast<uint8_t>(i * 7 + 3);
  }
  return tables;
}

TEST(LookUp, MapsEveryChannelThroughItsTable) {
  const LookupTables tables = DistinctTables();
  for (const Simd simd : {Simd::kScalar, Simd::kAvx512}) {
    if (!CanRun(simd)) continue;
    for (const auto format : {PIXEL_FORMAT_YUV_SEMIPLANAR_420, PIXEL_FORMAT_YVU_SEMIPLANAR_420}) {
      const TestPicture source = MakeTestPicture(format, 131, 37, 4);
      const TestPicture target = MakeTestPicture(format, 131, 37, 5);
      ASSERT_TRUE(LookUp(source.view, tables, target.view, simd).ok());
      const bool reversed = format == PIXEL_FORMAT_YVU_SEMIPLANAR_420;
      for (int p = 0; p < 2; ++p) {
        const PlaneView from = source.view.Plane(p);
        const PlaneView into = target.view.Plane(p);
        for (int y = 0; y < from.height; ++y) {
          for (int x = 0; x < from.width * from.channels; ++x) {
            const int channel = p == 0 ? 0 : (x % 2 == 1) != reversed ? 2 : 1;
            ASSERT_EQ(into.data[y * into.stride + x], tables[channel][from.data[y * from.stride + x]]);
          }
        }
      }
    }
  }
}

TEST(LookUp, WorksInPlaceAndLeavesTheStridesAlone) {
  const LookupTables tables = DistinctTables();
  TestPicture picture = MakeTestPicture(PIXEL_FORMAT_RGB_888, 33, 9, 4);
  const std::vector<uint8_t> before = picture.bytes;
  ASSERT_TRUE(LookUp(picture.view, tables, picture.view).ok());
  for (size_t i = 0; i < before.size(); ++i) {
    const size_t row = i / picture.view.stride;
    const size_t column = i % picture.view.stride;
    const bool inside = row < 9 && column < 99;
    ASSERT_EQ(picture.bytes[i], inside ? tables[column % 3][before[i]] : before[i]);
  }
}

TEST(LookUp, RefusesPicturesThatDiffer) {
  const TestPicture a = MakeTestPicture(PIXEL_FORMAT_YUV_400, 33, 9, 4);
  const TestPicture b = MakeTestPicture(PIXEL_FORMAT_YUV_400, 34, 9, 4);
  EXPECT_EQ(LookUp(a.view, DistinctTables(), b.view).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace npustream::dvpp
