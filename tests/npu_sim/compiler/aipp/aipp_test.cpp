#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "npu_sim/compiler/aipp/aipp_fields.h"
#include "npu_sim/compiler/aipp/aipp_file.h"
#include "npu_sim/compiler/aipp/resolve_aipp.h"
#include "npu_sim/compiler/ir/print.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/compiler/passes/fold_into_aipp.h"
#include "npu_sim/compiler/passes/insert_aipp.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/parse_graph.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<AippTarget> kModel = {{"images", om::DataType::kFloat32, {1, 3, 416, 416}}};

Result<std::vector<om::AippConfig>> Resolve(const std::string& text, const std::vector<AippTarget>& model = kModel) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto blocks, ParseAipp(text, "aipp.cfg"));
  return ResolveAipp(blocks, model);
}

std::string Block(const std::string& fields) { return "aipp_op {\n" + fields + "\n}\n"; }

TEST(AippTest, AFileOfTheUsualFormIsRead) {
  const auto configs = Resolve(R"(
# NV12 in, BGR out
aipp_op: {
  aipp_mode: static
  related_input_rank : 0;
  input_format : YUV420SP_U8,
  src_image_size_w : 416
  src_image_size_h : "416"
  csc_switch : true
  matrix_r0c0: 298 matrix_r0c1: 516
  matrix_r1c2: -208
  input_bias_0: 16
  min_chn_0: 103.53   # rounds to 103.5
  var_reci_chn_2 : 0.0171
}
)");
  ASSERT_TRUE(configs.ok()) << configs.status().message();
  const om::AippConfig& config = configs->at(0);
  EXPECT_EQ(config.input_format, "YUV420SP_U8");
  EXPECT_TRUE(config.csc_switch);
  EXPECT_THAT(config.matrix, ElementsAre(298, 516, 0, 298, -100, -208, 298, 0, 409));
  EXPECT_THAT(config.input_bias, ElementsAre(16, 128, 128));
  // binary16 has steps of 1/16 from 64 to 128 and of 2^-16 from 1/64 to 1/32.
  EXPECT_EQ(config.min_chn[0], 103.5f);
  EXPECT_EQ(config.var_reci_chn[2], 1121.0f / 65536.0f);
  EXPECT_EQ(config.var_reci_chn[0], 1.0f);
}

TEST(AippTest, SourceSizeIsTheModelsWhenItIsNotGiven) {
  const auto configs = Resolve(Block("aipp_mode: static input_format: RGB888_U8"));
  ASSERT_TRUE(configs.ok()) << configs.status().message();
  EXPECT_EQ(configs->at(0).src_image_size_w, 416);
  EXPECT_EQ(configs->at(0).src_image_size_h, 416);
}

TEST(AippTest, CropAndPaddingMustGiveTheModelsSize) {
  const std::string source =
      "aipp_mode: static input_format: YUV420SP_U8 src_image_size_w: 640 src_image_size_h: 480\n";
  EXPECT_TRUE(Resolve(Block(source + "crop: true load_start_pos_w: 2 load_start_pos_h: 4")).ok());
  EXPECT_TRUE(Resolve(Block(source + "crop: true crop_size_w: 400 crop_size_h: 384 padding: true left_padding_size: 16 "
                                     "top_padding_size: 32"))
                  .ok());
  EXPECT_THAT(Resolve(Block(source)).status().message(), HasSubstr("give 640 x 480, but input 'images' is 416 x 416"));
}

struct BadFile {
  const char* title;
  std::string text;
  const char* message;
};

void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.title; }

std::vector<BadFile> BadFiles() {
  const std::string nv12 = "aipp_mode: static\ninput_format: YUV420SP_U8\n";
  return {
      {"empty", "", "aipp.cfg:1: there is no aipp_op block"},
      {"other_block", "aipp {\n}", "aipp.cfg:1: 'aipp' where aipp_op is expected"},
      {"no_brace", "aipp_op aipp_mode: static", "{ is missing"},
      {"open_end", "aipp_op {\naipp_mode: static\n", "aipp.cfg:3: } is missing"},
      {"no_mode", Block("input_format: RGB888_U8"), "aipp.cfg:1: aipp_mode is missing"},
      {"no_format", Block("aipp_mode: static"), "input_format is required"},
      {"unknown_field", Block(nv12 + "colour: 1"), "aipp.cfg:4: there is no field 'colour'"},
      {"no_colon", Block(nv12 + "crop true"), "aipp.cfg:4: : is missing after crop"},
      {"no_value", Block(nv12 + "crop:"), "crop has no value"},
      {"given_twice", Block(nv12 + "var_reci_chn_0: 1\nvar_reci_chn_0: 2"),
       "aipp.cfg:5: var_reci_chn_0 is given twice"},
      {"unknown_mode", Block("aipp_mode: sometimes"), "aipp_mode 'sometimes' is not supported"},
      {"unknown_format", Block("aipp_mode: static input_format: I420"), "input_format 'I420' is not supported"},
      {"not_a_number", Block(nv12 + "min_chn_0: ten"), "min_chn_0 is 'ten', not a number"},
      {"infinite", Block(nv12 + "min_chn_0: inf"), "not a number"},
      {"not_a_truth", Block(nv12 + "csc_switch: yes"), "csc_switch is 'yes', not true or false"},
      {"fraction", Block(nv12 + "mean_chn_0: 1.5"), "not a whole number"},
      {"out_of_range", Block(nv12 + "mean_chn_0: 256"), "mean_chn_0 is 256, outside 0 to 255"},
      {"matrix_range", Block(nv12 + "matrix_r0c0: 40000"), "outside -32768 to 32767"},
      {"reserved", Block(nv12 + "resize: true"), "resize is reserved"},
      {"dynamic", Block("aipp_mode: dynamic\nmax_src_image_size: 1000000"), "dynamic AIPP is not supported yet"},
      {"rank", Block(nv12 + "related_input_rank: 1"), "related_input_rank 1 does not exist: the model has 1 inputs"},
      {"two_for_one_input", Block(nv12) + Block(nv12), "aipp.cfg:6: input 0 has an aipp_op block already"},
      {"odd_source", Block(nv12 + "src_image_size_w: 415 src_image_size_h: 416"), "must be even for YUV420SP_U8"},
      {"crop_without_source", Block(nv12 + "crop: true"), "src_image_size_w and src_image_size_h are required"},
      {"crop_outside", Block(nv12 + "src_image_size_w: 640 src_image_size_h: 416 crop: true load_start_pos_w: 300"),
       "leaves the source of 640 x 416"},
      {"odd_crop", Block(nv12 + "src_image_size_w: 640 src_image_size_h: 416 crop: true load_start_pos_w: 3"),
       "must be even for YUV420SP_U8"},
      {"open_crop_with_padding", Block(nv12 + "src_image_size_w: 640 src_image_size_h: 416 crop: true padding: true"),
       "required together with padding"},
      {"padding_range", Block(nv12 + "padding: true left_padding_size: 33"), "outside 0 to 32"},
      {"grey_with_csc", Block("aipp_mode: static input_format: YUV400_U8 csc_switch: true"),
       "cannot be used with YUV400_U8"},
      {"grey_for_colour", Block("aipp_mode: static input_format: YUV400_U8"), "with its 3 channels"},
  };
}

class BadAippTest : public testing::TestWithParam<BadFile> {};

TEST_P(BadAippTest, IsRefusedWithFileAndLine) {
  const auto configs = Resolve(GetParam().text);
  ASSERT_FALSE(configs.ok());
  EXPECT_THAT(configs.status().message(), HasSubstr(GetParam().message));
  EXPECT_THAT(configs.status().message(), HasSubstr("aipp.cfg:"));
}

INSTANTIATE_TEST_SUITE_P(Files, BadAippTest, testing::ValuesIn(BadFiles()),
                         [](const testing::TestParamInfo<BadFile>& info) { return std::string(info.param.title); });

TEST(AippTest, RoundToHalfFollowsIeee754) {
  EXPECT_EQ(RoundToHalf(1.0f), 1.0f);
  EXPECT_EQ(RoundToHalf(2049.0f), 2048.0f);  // a tie goes to the even neighbour
  EXPECT_EQ(RoundToHalf(2051.0f), 2052.0f);
  EXPECT_EQ(RoundToHalf(0.1f), 0.0999755859375f);           // 0x2e66
  EXPECT_EQ(RoundToHalf(5.9e-8f), 5.9604644775390625e-8f);  // the smallest of all
  EXPECT_EQ(RoundToHalf(-0.0f), 0.0f);
}

TEST(InsertAippTest, ThePictureTakesTheInputsName) {
  om::Graph graph = ParseGraph("input images: float32[1,3,4,8]\ny: float32[1,3,4,8] = Relu(images)\noutput y\n");
  om::AippConfig config;
  config.src_image_size_w = 8;
  config.src_image_size_h = 4;
  ASSERT_TRUE(InsertAipp(graph, {config}).ok());
  ASSERT_TRUE(VerifyGraph(graph).ok());
  const std::string text = PrintGraph(graph);
  EXPECT_THAT(text, HasSubstr("input images: uint8[1,6,8,1]\n"));
  EXPECT_THAT(text, HasSubstr("images.aipp: float32[1,3,4,8] = Aipp(images)"));
  EXPECT_THAT(text, HasSubstr("y: float32[1,3,4,8] = Relu(images.aipp)"));
  config.related_input_rank = 1;
  EXPECT_EQ(InsertAipp(graph, {config}).code(), StatusCode::kInvalidArgument);
}

// The pictures that a graph with an Aipp node at the front makes of bytes counting up.
std::vector<float> Prepare(const om::Graph& graph) {
  om::Bytes picture(graph.tensors[static_cast<size_t>(graph.inputs[0])].ByteSize());
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::byte>(i * 7);
  const auto outputs = program::EvaluateGraph(graph, {picture});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<float> values(outputs->at(0).size() / sizeof(float));
  std::memcpy(values.data(), outputs->at(0).data(), outputs->at(0).size());
  return values;
}

TEST(FoldIntoAippTest, TheModelsNormalisationIsDoneByAipp) {
  om::Graph graph = ParseGraph(
      "input images: float32[1,3,4,8]\n"
      "const mean: float32[1,3,1,1] = [103.53, 116.28, 123.675]\n"
      "const scale: float32[3,1,1] = [0.017429, 0.017507, 0.017125]\n"
      "s: float32[1,3,4,8] = Sub(images, mean)\n"
      "m: float32[1,3,4,8] = Mul(scale, s)\n"
      "y: float32[1,3,4,8] = Relu(m)\n"
      "output y\n");
  om::AippConfig config;
  config.input_format = "RGB888_U8";
  config.src_image_size_w = config.crop_size_w = 8;
  config.src_image_size_h = config.crop_size_h = 4;
  ASSERT_TRUE(InsertAipp(graph, {config}).ok());
  om::Graph folded = graph;
  ASSERT_TRUE(FoldIntoAipp(folded).ok());
  ASSERT_TRUE(VerifyGraph(folded).ok()) << VerifyGraph(folded).message();
  EXPECT_EQ(folded.nodes.size(), 2u);
  const std::vector<float> expected = Prepare(graph), actual = Prepare(folded);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6f) << i;
}

TEST(FoldIntoAippTest, AippWritesTheBytesThatAloneAreRead) {
  om::Graph graph = ParseGraph(
      "input images: float32[1,3,4,8]\n"
      "const w: float32[1,3,1,1] = [1, 1, 1]\n"
      "m: float32[1,3,4,8] = Mul(images, w)\n"
      "output m\n");
  om::AippConfig config;
  config.input_format = "RGB888_U8";
  config.src_image_size_w = config.crop_size_w = 8;
  config.src_image_size_h = config.crop_size_h = 4;
  ASSERT_TRUE(InsertAipp(graph, {config}).ok());
  const om::TensorId picture = graph.nodes.back().outputs[0];
  om::Tensor bytes{"bytes", om::DataType::kUInt8, {1, 3, 4, 8}, nullptr,
                   std::make_shared<const om::Quantization>(om::Quantization{{2}, {3}})};
  const om::TensorId id = AddTensor(graph, std::move(bytes));
  om::Tensor weights{"weights", om::DataType::kInt8, {2, 3, 1, 1},
                     std::make_shared<const om::Bytes>(om::Bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                                                 std::byte{5}, std::byte{6}})};
  weights.quantization = std::make_shared<const om::Quantization>(om::Quantization{{1}, {0}});
  const om::TensorId w = AddTensor(graph, std::move(weights));
  const om::TensorId real = AddTensor(graph, {"real", om::DataType::kFloat32, {1, 2, 4, 8}, nullptr});
  graph.nodes.push_back({"quantize", "Quantize", {picture}, {id}, {}});
  graph.nodes.push_back({"conv", "Conv", {id, w}, {real},
                         {{"pads", std::vector<int64_t>(4, 0)}, {"strides", std::vector<int64_t>{1, 1}},
                          {"dilations", std::vector<int64_t>{1, 1}}, {"group", int64_t{1}}}});
  graph.outputs = {real};
  om::Graph folded = graph;
  ASSERT_TRUE(FoldIntoAipp(folded).ok());
  ASSERT_EQ(folded.nodes.size(), 2u);
  EXPECT_EQ(folded.nodes[0].op, "Aipp");
  EXPECT_EQ(folded.nodes[0].outputs[0], id);
  EXPECT_EQ(Prepare(folded), Prepare(graph));
}

}  // namespace
}  // namespace npustream::compiler
