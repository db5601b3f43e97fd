#include "runtime/serving/aipp_config.h"

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

// Written by hand from the rules of AIPP: BT.601 in video range with rows R, G, B of 298,0,409 / 298,-100,-208 /
// 298,516,0, which stand in the other order for a model that wants blue first.
TEST(AippConfig, Nv12ForAModelThatWantsBlueFirst) {
  ModelDescription model;
  model.color_order = ColorOrder::kBgr;
  model.mean = {103.53f, 116.28f, 123.675f};
  model.std = {64, 32, 16};
  EXPECT_EQ(AippConfig(model, PictureFormat::kNv12, 320, 240), R"(aipp_op {
  aipp_mode: static
  related_input_rank: 0
  input_format: YUV420SP_U8
  src_image_size_w: 320
  src_image_size_h: 240
  crop: false
  csc_switch: true
  rbuv_swap_switch: false
  matrix_r0c0: 298
  matrix_r0c1: 516
  matrix_r0c2: 0
  matrix_r1c0: 298
  matrix_r1c1: -100
  matrix_r1c2: -208
  matrix_r2c0: 298
  matrix_r2c1: 0
  matrix_r2c2: 409
  input_bias_0: 16
  input_bias_1: 128
  input_bias_2: 128
  min_chn_0: 103.53
  min_chn_1: 116.28
  min_chn_2: 123.675
  var_reci_chn_0: 0.015625
  var_reci_chn_1: 0.03125
  var_reci_chn_2: 0.0625
}
)");
}

TEST(AippConfig, RgbPicturesAreSwappedForAModelThatWantsBlueFirst) {
  ModelDescription model;
  model.color_order = ColorOrder::kBgr;
  EXPECT_EQ(AippConfig(model, PictureFormat::kRgb888, 64, 33), R"(aipp_op {
  aipp_mode: static
  related_input_rank: 0
  input_format: RGB888_U8
  src_image_size_w: 64
  src_image_size_h: 33
  crop: false
  csc_switch: false
  rbuv_swap_switch: true
  min_chn_0: 0
  min_chn_1: 0
  min_chn_2: 0
  var_reci_chn_0: 1
  var_reci_chn_1: 1
  var_reci_chn_2: 1
}
)");
}

TEST(AippConfig, RedFirstNeedsNoSwap) {
  ModelDescription model;
  model.color_order = ColorOrder::kRgb;
  const std::string nv12 = AippConfig(model, PictureFormat::kNv12, 2, 2);
  EXPECT_NE(nv12.find("matrix_r0c2: 409\n"), std::string::npos);
  EXPECT_NE(nv12.find("matrix_r2c1: 516\n"), std::string::npos);
  EXPECT_NE(AippConfig(model, PictureFormat::kRgb888, 2, 2).find("rbuv_swap_switch: false\n"), std::string::npos);
}

}  // namespace
}  // namespace npustream::serving
