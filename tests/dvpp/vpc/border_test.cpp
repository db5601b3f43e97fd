#include "dvpp/vpc/border.h"

#include <gtest/gtest.h>
#include <opencv2/core.hpp>

#include "tests/dvpp/test_picture.h"

namespace npustream::dvpp {
namespace {

struct Pair {
  acldvppBorderType ours;
  int opencv;
};

class EveryBorder : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(MakeBorder, EveryBorder,
                         testing::Values(Pair{BORDER_CONSTANT, cv::BORDER_CONSTANT},
                                         Pair{BORDER_REPLICATE, cv::BORDER_REPLICATE},
                                         Pair{BORDER_REFLECT, cv::BORDER_REFLECT},
                                         Pair{BORDER_REFLECT_101, cv::BORDER_REFLECT_101}));

TEST_P(EveryBorder, EqualsOpenCvOnEveryPlane) {
  const TestPicture source = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 38, 22, 3);
  const TestPicture target = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 38 + 6 + 10, 22 + 4 + 8, 4);
  ASSERT_TRUE(MakeBorder(source.view, {GetParam().ours, 6, 10, 4, 8, {16, 100, 200}}, target.view).ok());
  for (int p = 0; p < 2; ++p) {
    const PlaneView from = source.view.Plane(p);
    const PlaneView into = target.view.Plane(p);
    const int divide = p + 1;
    cv::Mat wanted;
    cv::copyMakeBorder(cv::Mat(from.height, from.width, CV_8UC(from.channels), from.data, from.stride), wanted,
                       4 / divide, 8 / divide, 6 / divide, 10 / divide, GetParam().opencv,
                       p == 0 ? cv::Scalar(16) : cv::Scalar(100, 200));
    const cv::Mat got(into.height, into.width, CV_8UC(into.channels), into.data, into.stride);
    EXPECT_EQ(cv::norm(wanted, got, cv::NORM_INF), 0.0);
  }
}

TEST(MakeBorder, RefusesSizesThatDoNotAddUp) {
  const TestPicture source = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 38, 22, 3);
  const TestPicture target = MakeTestPicture(PIXEL_FORMAT_YUV_SEMIPLANAR_420, 48, 22, 4);
  EXPECT_EQ(MakeBorder(source.view, {BORDER_CONSTANT, 6, 6, 0, 0, {}}, target.view).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeBorder(source.view, {BORDER_CONSTANT, 5, 5, 0, 0, {}}, target.view).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace npustream::dvpp
