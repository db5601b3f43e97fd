#include "npu_sim/om/aipp_config.h"

#include <gtest/gtest.h>

namespace npustream::om {
namespace {

TEST(AippConfigTest, AttributesAndBack) {
  AippConfig config;
  config.input_format = "RGB888_U8";
  config.src_image_size_w = 640;
  config.src_image_size_h = 480;
  config.crop = true;
  config.load_start_pos_w = 4;
  config.crop_size_w = 416;
  config.mean_chn = {1, 2, 3, 4};
  config.var_reci_chn = {0.5f, 0.25f, 0.125f, 1};
  Node node;
  node.attributes = ToAttributes(config);
  const auto read = AippFromAttributes(node);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToAttributes(*read), node.attributes);
}

TEST(AippConfigTest, RefusesWhatTheFileMayNotSay) {
  Node node;
  node.attributes = ToAttributes(AippConfig{});
  EXPECT_FALSE(AippFromAttributes(node).ok()) << "no source size";
  node.attributes["src_image_size_w"] = int64_t{64};
  node.attributes["src_image_size_h"] = int64_t{64};
  EXPECT_TRUE(AippFromAttributes(node).ok());
  for (const auto& [name, value] : std::map<std::string, Attribute>{{"src_image_size_w", int64_t{4097}},
                                                                    {"left_padding_size", int64_t{33}},
                                                                    {"load_start_pos_h", int64_t{-1}},
                                                                    {"matrix", std::vector<int64_t>{1, 2}},
                                                                    {"mean_chn", std::vector<int64_t>{256, 0, 0, 0}},
                                                                    {"input_format", std::string("YUYV")}}) {
    Node bad = node;
    bad.attributes[name] = value;
    EXPECT_FALSE(AippFromAttributes(bad).ok()) << name;
  }
}

TEST(AippConfigTest, InputDimsAreTheVendors) {
  AippConfig config;
  config.src_image_size_w = 416;
  config.src_image_size_h = 320;
  EXPECT_EQ(AippInputDims(config, 2), (Dims{2, 480, 416, 1}));
  config.input_format = "XRGB8888_U8";
  EXPECT_EQ(AippInputDims(config, 1), (Dims{1, 320, 416, 4}));
  config.input_format = "RGB888_U8";
  EXPECT_EQ(AippInputDims(config, 1), (Dims{1, 320, 416, 3}));
  config.input_format = "YUV400_U8";
  EXPECT_EQ(AippInputDims(config, 1), (Dims{1, 320, 416, 1}));
}

}  // namespace
}  // namespace npustream::om
