#include "npu_sim/compiler/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstring>
#include <map>

#include "npu_sim/om/om_reader.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/model_report.h"
#include "npu_sim/program/program.h"
#include "tests/npu_sim/compiler/support/model_builder.h"
#include "tests/support/test_data.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

CompileOptions Options(std::map<std::string, om::Dims> shapes = {}, Ints gears = {}) {
  CompileOptions options;
  options.model_name = "test";
  options.soc = "Ascend310P3";
  options.input_shapes = std::move(shapes);
  options.gears = std::move(gears);
  return options;
}

// Every image by itself: a convolution and a reshape that keeps the batch.
ModelBuilder Separable(int64_t batch) {
  return ModelBuilder()
      .Input("x", {batch, 2, 4, 4})
      .Weights("w", {3, 2, 3, 3})
      .Node("Conv", {"x", "w"}, "c", {{"pads", Ints{1, 1, 1, 1}}})
      .Node("Flatten", {"c"}, "y")
      .Output("y");
}

// Images influence each other: every one is compared with the batch's mean.
ModelBuilder Mixing(int64_t batch) {
  return ModelBuilder()
      .Input("x", {batch, 8})
      .Node("ReduceMean", {"x"}, "m", {{"axes", Ints{0}}})
      .Node("Sub", {"x", "m"}, "y")
      .Output("y");
}

TEST(CompileTest, ASymbolicBatchOfSeparableImagesIsOnePlan) {
  const auto model = Compile(Separable(-1), Options({{"x", {-1, 2, 4, 4}}}, {1, 2, 4}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->plans.size(), 1u);
  EXPECT_TRUE(model->plans[0].per_image);
  EXPECT_EQ(model->plans[0].batch, 1);
  EXPECT_TRUE(model->info.dynamic_batch);
  EXPECT_THAT(model->info.gears, ElementsAre(1, 2, 4));
  EXPECT_EQ(model->info.inputs[0].dims, (om::Dims{-1, 2, 4, 4}));
  EXPECT_EQ(model->info.outputs[0].dims, (om::Dims{-1, 48}));
  EXPECT_EQ(model->info.inputs[0].format, om::Format::kNchw);
}

TEST(CompileTest, AModelForOneImageTakesGearsToo) {
  const auto model = Compile(Separable(1), Options({{"x", {-1, 2, 4, 4}}}, {1, 8}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_TRUE(model->plans[0].per_image);
  EXPECT_EQ(model->info.outputs[0].dims, (om::Dims{-1, 48}));
}

TEST(CompileTest, ABatchThatMixesImagesIsAPlanPerGear) {
  const auto model = Compile(Mixing(-1), Options({}, {1, 2}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->plans.size(), 2u);
  EXPECT_FALSE(model->plans[0].per_image);
  EXPECT_EQ(model->plans[1].batch, 2);
}

TEST(CompileTest, AFixedBatchOfSeparableImagesIsCutToOne) {
  const auto model = Compile(Separable(4), Options());
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->plans.size(), 1u);
  EXPECT_TRUE(model->plans[0].per_image);
  EXPECT_EQ(model->plans[0].batch, 1);
  EXPECT_FALSE(model->info.dynamic_batch);
  EXPECT_THAT(model->info.gears, ElementsAre(4));
  EXPECT_EQ(model->info.inputs[0].dims, (om::Dims{4, 2, 4, 4}));
  const auto mixing = Compile(Mixing(4), Options());
  ASSERT_TRUE(mixing.ok()) << mixing.status().message();
  EXPECT_FALSE(mixing->plans[0].per_image);
  EXPECT_EQ(mixing->plans[0].batch, 4);
}

// Axis 0 of a long table is no batch: no OM has so great a one.
TEST(CompileTest, ATableMayHaveMoreRowsThanABatch) {
  for (const int64_t rows : {int64_t{65536}, int64_t{65537}, int64_t{1} << 20}) {
    const auto model = ModelBuilder().Input("x", {rows, 2}).Node("Relu", {"x"}, "y").Output("y");
    const auto compiled = Compile(model, Options());
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto om = om::WriteOm(*compiled);
    ASSERT_TRUE(om.ok()) << om.status().message();
    const auto file = om::OmFile::FromBytes(*om);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ((*file)->info().inputs[0].dims, (om::Dims{rows, 2}));
  }
}

TEST(CompileTest, AnOutputWithoutBatchCannotHaveGears) {
  const auto model =
      ModelBuilder().Input("x", {1, 8}).Ints("shape", {8}).Node("Reshape", {"x", "shape"}, "y").Output("y");
  EXPECT_EQ(Compile(model, Options({}, {1, 2})).status().code(), StatusCode::kInvalidArgument);
}

// Runs a model as the runtime does.
std::vector<float> RunProgram(const om::OmModel& model, const std::vector<float>& input) {
  const auto bytes = om::WriteOm(model);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  const auto file = om::OmFile::FromBytes(*bytes);
  EXPECT_TRUE(file.ok()) << file.status().message();
  const auto program = program::Program::Load(**file, 1);
  EXPECT_TRUE(program.ok()) << program.status().message();
  const int64_t gear = (*program)->gears().back();
  std::vector<float> output((*program)->OutputBytes(0, gear) / sizeof(float));
  const std::byte* in = reinterpret_cast<const std::byte*>(input.data());
  std::byte* out = reinterpret_cast<std::byte*>(output.data());
  EXPECT_EQ((*program)->InputBytes(0, gear), input.size() * sizeof(float));
  for (int part = 0; part < (*program)->PartCount(gear); ++part) {
    EXPECT_TRUE((*program)->RunPart(gear, part, 0, {&in, 1}, {&out, 1}).ok());
  }
  return output;
}

TEST(CompileTest, ACutBatchGivesTheSameAsOneImageAtATime) {
  std::vector<float> input(4 * 32);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 17) - 8;
  const auto batch = Compile(Separable(4), Options()), single = Compile(Separable(1), Options());
  ASSERT_TRUE(batch.ok() && single.ok());
  const std::vector<float> together = RunProgram(*batch, input);
  ASSERT_EQ(together.size(), 4u * 48);
  for (size_t image = 0; image < 4; ++image) {
    const auto from = input.begin() + static_cast<std::ptrdiff_t>(image * 32);
    const std::vector<float> alone = RunProgram(*single, {from, from + 32});
    EXPECT_EQ(std::memcmp(alone.data(), together.data() + image * 48, 48 * sizeof(float)), 0);
  }
}

TEST(CompileTest, OutputsCanHaveAnotherType) {
  CompileOptions options = Options();
  options.output_types["y"] = om::DataType::kUInt8;
  const auto model = Compile(Separable(1), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->info.outputs[0].type, om::DataType::kUInt8);
  options.output_types = {{"nothing", om::DataType::kUInt8}};
  EXPECT_EQ(Compile(Separable(1), options).status().code(), StatusCode::kNotFound);
}

TEST(CompileTest, TheSameModelGivesTheSameBytes) {
  const auto first = Compile(Separable(1), Options()), second = Compile(Separable(1), Options());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*om::WriteOm(*first), *om::WriteOm(*second));
}

TEST(CompileTest, PassesCanBeSwitchedOffWithoutChangingResults) {
  CompileOptions plain = Options();
  for (const std::string_view name : PassNames()) plain.disabled_passes.emplace(name);
  const auto model = ModelBuilder()
                         .Input("x", {1, 2, 4, 4})
                         .Weights("w", {2, 2, 1, 1})
                         .Weights("s", {2, 1, 1})
                         .Node("Conv", {"x", "w"}, "c")
                         .Node("Mul", {"c", "s"}, "m")
                         .Node("Sigmoid", {"m"}, "g")
                         .Node("Mul", {"m", "g"}, "a")
                         .Node("Add", {"a", "x"}, "y")
                         .Output("y");
  const auto optimised = Compile(model, Options()), unchanged = Compile(model, plain);
  ASSERT_TRUE(optimised.ok()) << optimised.status().message();
  ASSERT_TRUE(unchanged.ok()) << unchanged.status().message();
  EXPECT_LT(optimised->plans[0].graph.nodes.size(), unchanged->plans[0].graph.nodes.size());
  const std::vector<float> input(32, 0.75f);
  const std::vector<float> fast = RunProgram(*optimised, input), slow = RunProgram(*unchanged, input);
  for (size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], slow[i], 1e-5f * (1 + std::abs(slow[i])));
}

struct RealModel {
  const char* file;
  std::map<std::string, om::Dims> shapes;
  size_t most_nodes;  // fused: a pass that stops working shows
};

void PrintTo(const RealModel& model, std::ostream* out) { *out << model.file; }

class RealModelTest : public testing::TestWithParam<RealModel> {};

// The pool holds what is alive at once and little besides.
void ExpectTightPool(const om::OmModel& model) {
  const auto bytes = om::WriteOm(model);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto file = om::OmFile::FromBytes(*bytes);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto report = program::ReportModel(**file);
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const program::PlanReport& plan : report->plans) {
    EXPECT_LE(static_cast<double>(plan.pool_bytes), 1.10 * static_cast<double>(plan.pool_lower_bound));
  }
}

TEST_P(RealModelTest, CompilesIntoATightPool) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, std::string("models/") + GetParam().file);
  const auto onnx = ReadOnnxModel(path);
  ASSERT_TRUE(onnx.ok()) << onnx.status().message();
  const auto model = Compile(*onnx, Options(GetParam().shapes));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_TRUE(model->plans[0].per_image);
  EXPECT_LE(model->plans[0].graph.nodes.size(), GetParam().most_nodes);
  ExpectTightPool(*model);
}

INSTANTIATE_TEST_SUITE_P(SharedData, RealModelTest,
                         testing::Values(RealModel{"fastestdet_352.onnx", {}, 186},
                                         RealModel{"lowlight_sci_240x320.onnx", {}, 6}, RealModel{"mnist.onnx", {}, 6},
                                         RealModel{"mobilenet_v2_128_0.5.onnx", {{"input_1:0", {1, 3, 128, 128}}}, 56},
                                         RealModel{"nanodet_m_320.onnx", {}, 188},
                                         RealModel{"osnet_x0_25_opset11.onnx", {{"input", {1, 3, 256, 128}}}, 259},
                                         RealModel{"yolox_nano_416.onnx", {}, 155},
                                         RealModel{"yunet_n_320.onnx", {}, 91}),
                         [](const testing::TestParamInfo<RealModel>& info) {
                           std::string name = info.param.file;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace npustream::compiler
