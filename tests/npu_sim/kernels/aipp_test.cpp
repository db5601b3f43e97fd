// AIPP by hand-calculated values.
#include <gtest/gtest.h>

#include "npu_sim/om/aipp_config.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

std::vector<float> Convert(const om::AippConfig& config, om::Dims out, const std::vector<uint8_t>& picture) {
  om::GraphBuilder b;
  const om::TensorId x = b.Input(om::AippInputDims(config, out[0]), om::DataType::kUInt8);
  b.Output(b.Node("Aipp", {x}, out, om::ToAttributes(config)));
  const auto result = program::EvaluateGraph(b.graph(), {om::ToBytes(picture)});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? om::FromBytes<float>((*result)[0]) : std::vector<float>();
}

om::AippConfig Size(const char* format, int32_t width, int32_t height) {
  om::AippConfig config;
  config.input_format = format;
  config.src_image_size_w = width;
  config.src_image_size_h = height;
  return config;
}

TEST(AippTest, Nv12ToRgbByTheNarrowMatrix) {
  om::AippConfig config = Size("YUV420SP_U8", 2, 2);
  config.csc_switch = true;
  config.matrix = {298, 0, 409, 298, -100, -208, 298, 516, 0};
  // Luma 16, 235, 81, 145; one chroma pair u 90, v 240. From the formula: luma 81 → 298·65 = 19370;
  // red (19370 + 409·112) >> 8 = 254, green (19370 + 3800 − 23296) >> 8 = −1 → 0, blue (19370 − 516·38) >> 8 = −1 → 0.
  const auto rgb = Convert(config, {1, 3, 2, 2}, {16, 235, 81, 145, 90, 240});
  EXPECT_EQ(rgb, (std::vector<float>{178, 255, 254, 255, 0, 178, 0, 74, 0, 178, 0, 73}));
}

TEST(AippTest, SwapExchangesChroma) {
  om::AippConfig config = Size("YUV420SP_U8", 2, 2);
  config.rbuv_swap_switch = true;
  const auto yuv = Convert(config, {1, 3, 2, 2}, {1, 2, 3, 4, 50, 60});
  EXPECT_EQ(yuv, (std::vector<float>{1, 2, 3, 4, 60, 60, 60, 60, 50, 50, 50, 50}));
}

TEST(AippTest, PackedFormatsAndNormalisation) {
  om::AippConfig config = Size("RGB888_U8", 2, 1);
  config.mean_chn = {10, 20, 30, 0};
  config.min_chn = {0.5f, 0, 0, 0};
  config.var_reci_chn = {2, 0.5f, 1, 1};
  EXPECT_EQ(Convert(config, {1, 3, 1, 2}, {11, 22, 33, 110, 120, 130}), (std::vector<float>{1, 199, 1, 50, 3, 100}));
  config = Size("RGB888_U8", 2, 1);
  config.rbuv_swap_switch = true;
  EXPECT_EQ(Convert(config, {1, 3, 1, 2}, {1, 2, 3, 4, 5, 6}), (std::vector<float>{3, 6, 2, 5, 1, 4}));
  config = Size("XRGB8888_U8", 2, 1);
  EXPECT_EQ(Convert(config, {1, 3, 1, 2}, {1, 2, 3, 99, 4, 5, 6, 99}), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  config.ax_swap_switch = true;
  EXPECT_EQ(Convert(config, {1, 3, 1, 2}, {99, 1, 2, 3, 99, 4, 5, 6}), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Convert(Size("YUV400_U8", 3, 1), {1, 1, 1, 3}, {7, 8, 9}), (std::vector<float>{7, 8, 9}));
}

TEST(AippTest, CropThenPadding) {
  om::AippConfig config = Size("YUV400_U8", 4, 3);
  config.crop = true;
  config.load_start_pos_w = 1;
  config.load_start_pos_h = 1;
  config.crop_size_w = 2;
  config.crop_size_h = 2;
  config.padding = true;
  config.left_padding_size = 1;
  config.bottom_padding_size = 1;
  config.padding_value = -3;
  EXPECT_EQ(Convert(config, {1, 1, 3, 3}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}),
            (std::vector<float>{-3, 11, 12, -3, 21, 22, -3, -3, -3}));
}

// (value − 10) · 0.5 in steps of 0.25 around 100; the padding of −3 is −12 steps.
TEST(AippTest, WritesBytesThatStandForTheSame) {
  om::AippConfig config = Size("RGB888_U8", 2, 1);
  config.mean_chn = {10, 10, 10, 0};
  config.var_reci_chn = {0.5f, 0.5f, 0.5f, 1};
  config.padding = true;
  config.left_padding_size = config.bottom_padding_size = 1;
  config.padding_value = -3;
  om::GraphBuilder b;
  const om::TensorId x = b.Input(om::AippInputDims(config, 1), om::DataType::kUInt8);
  const om::TensorId y = b.Node("Aipp", {x}, {1, 3, 2, 3}, om::ToAttributes(config), om::DataType::kUInt8);
  b.Output(b.Quantized(y, {{0.25f}, {100}}));
  const auto result = program::EvaluateGraph(b.graph(), {om::ToBytes(std::vector<uint8_t>{10, 12, 255, 30, 0, 90})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(om::FromBytes<uint8_t>((*result)[0]), (std::vector<uint8_t>{88, 100, 140, 88, 88, 88,    //
                                                                        88, 104, 80, 88, 88, 88,     //
                                                                        88, 255, 255, 88, 88, 88}));
}

}  // namespace
}  // namespace npustream::kernels
