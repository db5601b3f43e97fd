#include "npu_sim/compiler/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "npu_sim/compiler/aipp/resolve_aipp.h"
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
  if (!gears.empty()) options.gears = GearOptions::Batches(gears);
  return options;
}

// How many runs of its plan each gear takes.
Ints ImagesOf(const om::OmModel& model) {
  Ints images;
  for (const om::Gear& gear : model.info.gears) images.push_back(gear.images);
  return images;
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
  EXPECT_EQ(model->info.dynamic, om::Dynamic::kBatch);
  EXPECT_THAT(ImagesOf(*model), ElementsAre(1, 2, 4));
  EXPECT_EQ(model->info.InputDims(0), (om::Dims{-1, 2, 4, 4}));
  EXPECT_EQ(model->info.OutputDims(0), (om::Dims{-1, 48}));
  EXPECT_EQ(model->info.inputs[0].format, om::Format::kNchw);
}

TEST(CompileTest, AModelForOneImageTakesGearsToo) {
  const auto model = Compile(Separable(1), Options({{"x", {-1, 2, 4, 4}}}, {1, 8}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->plans.size(), 1u);
  EXPECT_THAT(ImagesOf(*model), ElementsAre(1, 8));
  EXPECT_EQ(model->info.OutputDims(0), (om::Dims{-1, 48}));
}

TEST(CompileTest, ABatchThatMixesImagesIsAPlanPerGear) {
  const auto model = Compile(Mixing(-1), Options({}, {1, 2}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->plans.size(), 2u);
  EXPECT_THAT(ImagesOf(*model), ElementsAre(1, 1));
  EXPECT_EQ(model->info.gears[1].inputs[0], (om::Dims{2, 8}));
}

TEST(CompileTest, AFixedBatchOfSeparableImagesIsCutToOne) {
  const auto model = Compile(Separable(4), Options());
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->plans.size(), 1u);
  EXPECT_EQ(model->info.dynamic, om::Dynamic::kNothing);
  EXPECT_THAT(ImagesOf(*model), ElementsAre(4));
  EXPECT_EQ(model->info.InputDims(0), (om::Dims{4, 2, 4, 4}));
  const auto mixing = Compile(Mixing(4), Options());
  ASSERT_TRUE(mixing.ok()) << mixing.status().message();
  EXPECT_THAT(ImagesOf(*mixing), ElementsAre(1));
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
    EXPECT_EQ((*file)->info().InputDims(0), (om::Dims{rows, 2}));
  }
}

TEST(CompileTest, AnOutputWithoutBatchCannotHaveGears) {
  const auto model =
      ModelBuilder().Input("x", {1, 8}).Ints("shape", {8}).Node("Reshape", {"x", "shape"}, "y").Output("y");
  EXPECT_EQ(Compile(model, Options({}, {1, 2})).status().code(), StatusCode::kInvalidArgument);
}

std::span<const std::byte> BytesOf(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

// A model as the runtime has it.
struct Loaded {
  explicit Loaded(const om::OmModel& model) {
    const auto bytes = om::WriteOm(model);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    file = std::move(om::OmFile::FromBytes(*bytes)).value();
    program = std::move(program::Program::Load(*file, 1)).value();
  }

  // The first output of a gear.
  std::vector<float> Run(size_t gear, const std::vector<std::vector<float>>& inputs) const {
    std::vector<std::span<const std::byte>> bytes;
    for (const std::vector<float>& input : inputs) bytes.push_back(BytesOf(input));
    return RunBytes(gear, bytes);
  }
  std::vector<float> RunBytes(size_t gear, const std::vector<std::span<const std::byte>>& inputs) const {
    std::vector<float> output(program->OutputBytes(0, gear) / sizeof(float));
    std::vector<const std::byte*> in;
    for (size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(inputs[i].data());
      EXPECT_EQ(program->InputBytes(i, gear), inputs[i].size());
    }
    std::byte* out = reinterpret_cast<std::byte*>(output.data());
    for (int part = 0; part < program->PartCount(gear); ++part) {
      EXPECT_TRUE(program->RunPart(gear, part, 0, in, {&out, 1}).ok());
    }
    return output;
  }

  std::unique_ptr<om::OmFile> file;
  std::unique_ptr<program::Program> program;
};

std::vector<float> RunProgram(const om::OmModel& model, const std::vector<float>& input) {
  return Loaded(model).Run(0, {input});
}

std::vector<float> Numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7 % 23) / 4 - 2;
  return values;
}

// A detector's body in small, fully convolutional: a stem, a residual block, upsampling, and a flattened head.
ModelBuilder Convolutional(int64_t batch, int64_t height, int64_t width) {
  return ModelBuilder()
      .Input("x", {batch, 3, height, width})
      .Weights("stem", {16, 3, 3, 3})
      .Weights("body", {16, 16, 3, 3})
      .Weights("head", {5, 16, 1, 1})
      .Node("Conv", {"x", "stem"}, "a", {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}})
      .Node("Relu", {"a"}, "b")
      .Node("Conv", {"b", "body"}, "c", {{"pads", Ints{1, 1, 1, 1}}})
      .Node("Add", {"b", "c"}, "d")
      .Node("Conv", {"d", "head"}, "e")
      .Ints("shape", {0, 5, -1})
      .Node("Reshape", {"e", "shape"}, "y")
      .Output("y");
}

CompileOptions OptionsFor(om::Dynamic dynamic, InputShapes shapes, std::vector<Ints> choices,
                          std::vector<std::string> order = {}) {
  CompileOptions options = Options(std::move(shapes));
  options.gears = {dynamic, std::move(choices), std::move(order)};
  return options;
}

TEST(CompileTest, EveryImageSizeGivesTheBytesOfAModelOfThatSize) {
  const std::vector<Ints> sizes = {{8, 12}, {16, 16}, {4, 6}};
  for (const int64_t batch : {1, 2}) {
    const auto model = Compile(Convolutional(batch, -1, -1),
                               OptionsFor(om::Dynamic::kImageSize, {{"x", {batch, 3, -1, -1}}}, sizes));
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->plans.size(), 3u);
    EXPECT_THAT(ImagesOf(*model), ElementsAre(batch, batch, batch));
    EXPECT_EQ(model->info.InputDims(0), (om::Dims{batch, 3, -1, -1}));
    EXPECT_EQ(model->info.OutputDims(0), (om::Dims{batch, 5, -1}));
    EXPECT_EQ(model->info.LargestGear(), 1u);
    const Loaded loaded(*model);
    for (const size_t gear : {0, 2, 1, 0}) {
      const Ints& size = sizes[gear];
      EXPECT_EQ(model->info.gears[gear].values, size);
      const std::vector<float> input = Numbers(static_cast<size_t>(batch * 3 * size[0] * size[1]));
      const auto fixed = Compile(Convolutional(batch, size[0], size[1]), Options());
      ASSERT_TRUE(fixed.ok()) << fixed.status().message();
      EXPECT_EQ(loaded.Run(gear, {input}), RunProgram(*fixed, input)) << gear;
    }
  }
}

TEST(CompileTest, AippTakesPicturesOfEverySize) {
  const auto block = ParseAipp("aipp_op { aipp_mode: static input_format: YUV420SP_U8 csc_switch: true "
                               "min_chn_0: 12 var_reci_chn_0: 0.5 }", "aipp.cfg");
  ASSERT_TRUE(block.ok());
  const std::vector<Ints> sizes = {{8, 12}, {16, 16}};
  CompileOptions options = OptionsFor(om::Dynamic::kImageSize, {{"x", {1, 3, -1, -1}}}, sizes);
  options.aipp = *ResolveAippForAnySize(*block, {{"x", om::DataType::kFloat32, {1, 3, 8, 12}}});
  const auto model = Compile(Convolutional(1, -1, -1), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->info.InputDims(0), (om::Dims{1, -1, -1, 1}));
  const Loaded loaded(*model);
  for (size_t gear = 0; gear < sizes.size(); ++gear) {
    const int64_t height = sizes[gear][0], width = sizes[gear][1];
    EXPECT_EQ(model->info.gears[gear].inputs[0], (om::Dims{1, height * 3 / 2, width, 1}));
    om::Bytes picture(static_cast<size_t>(height * width * 3 / 2));
    for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::byte>(i * 31 % 251);
    CompileOptions fixed = Options();
    fixed.aipp = *ResolveAipp(*block, {{"x", om::DataType::kFloat32, {1, 3, height, width}}});
    const auto one = Compile(Convolutional(1, height, width), fixed);
    ASSERT_TRUE(one.ok()) << one.status().message();
    EXPECT_EQ(loaded.RunBytes(gear, {picture}), Loaded(*one).RunBytes(0, {picture})) << gear;
  }
}

TEST(CompileTest, GearsShareWeightsInTheFile) {
  const auto model = [](std::vector<Ints> sizes) {
    const auto compiled = Compile(Convolutional(1, -1, -1),
                                  OptionsFor(om::Dynamic::kImageSize, {{"x", {1, 3, -1, -1}}}, std::move(sizes)));
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return Loaded(*compiled).file->sizes().weight_bytes;
  };
  EXPECT_EQ(model({{16, 16}, {16, 24}, {24, 24}, {32, 32}}), model({{16, 16}, {32, 32}}));
}

// c = a · bᵀ + bias, with a [rows, 4] and b [columns, 4].
ModelBuilder Products(int64_t rows, int64_t columns) {
  return ModelBuilder()
      .Input("a", {rows, 4})
      .Input("b", {columns, 4})
      .Node("Transpose", {"b"}, "t", {{"perm", Ints{1, 0}}})
      .Node("MatMul", {"a", "t"}, "y")
      .Output("y");
}

TEST(CompileTest, DimsAreTakenInTheOrderOfTheUser) {
  const auto model = Compile(Products(-1, -1), OptionsFor(om::Dynamic::kDims, {{"a", {-1, 4}}, {"b", {-1, 4}}},
                                                          {{3, 2}, {5, 5}}, {"b", "a"}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->info.gears[0].values, (Ints{3, 4, 2, 4}));
  EXPECT_THAT(model->info.gears[0].inputs, ElementsAre(om::Dims{2, 4}, om::Dims{3, 4}));
  EXPECT_THAT(model->info.gears[0].outputs, ElementsAre(om::Dims{2, 3}));
  EXPECT_EQ(model->info.InputDims(0), (om::Dims{-1, 4}));
  EXPECT_EQ(model->info.OutputDims(0), (om::Dims{-1, -1}));
  const Loaded loaded(*model);
  const std::vector<float> a = Numbers(2 * 4), b = Numbers(3 * 4);
  const auto fixed = Compile(Products(2, 3), Options());
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(loaded.Run(0, {a, b}), Loaded(*fixed).Run(0, {a, b}));
}

TEST(CompileTest, DimsMayChooseTheBatchAndTheSizeAtOnce) {
  const auto model =
      Compile(Convolutional(-1, -1, -1), OptionsFor(om::Dynamic::kDims, {{"x", {-1, 3, -1, -1}}},
                                                    {{1, 8, 8}, {4, 8, 8}, {2, 4, 12}}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->plans.size(), 2u);  // one image of each size
  EXPECT_THAT(ImagesOf(*model), ElementsAre(1, 4, 2));
  const Loaded loaded(*model);
  const std::vector<float> input = Numbers(4 * 3 * 8 * 8);
  const auto fixed = Compile(Convolutional(4, 8, 8), Options());
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(loaded.Run(1, {input}), RunProgram(*fixed, input));
}

// y = x + a vector that is the same for every image.
ModelBuilder Shifted(int64_t batch) {
  return ModelBuilder()
      .Input("x", {batch, 4})
      .Input("shift", {1, 4})
      .Node("Add", {"x", "shift"}, "s")
      .Node("Relu", {"s"}, "y")
      .Output("y");
}

TEST(CompileTest, AnInputWithoutBatchKeepsItsShapeInEveryGear) {
  for (const int64_t batch : {-1, 1}) {
    const auto model = Compile(Shifted(batch), Options({{"x", {-1, 4}}, {"shift", {1, 4}}}, {1, 3}));
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->plans.size(), 1u);
    EXPECT_THAT(ImagesOf(*model), ElementsAre(1, 3));
    EXPECT_EQ(model->info.InputDims(0), (om::Dims{-1, 4}));
    EXPECT_EQ(model->info.InputDims(1), (om::Dims{1, 4}));
    EXPECT_EQ(Loaded(*model).Run(1, {{1, 2, 3, 4, 5, 6, 7, 8, -9, -9, -9, -9}, {1, 1, -7, 1}}),
              (std::vector<float>{2, 3, 0, 5, 6, 7, 0, 9, 0, 0, 0, 0}));
  }
}

TEST(CompileTest, AnOutputWithoutBatchHasGearsWhenTheFileLeavesItOpen) {
  const auto model = Compile(ModelBuilder()
                                 .Input("x", {-1, 8})
                                 .Node("ReduceMean", {"x"}, "y", {{"axes", Ints{0}}, {"keepdims", int64_t{0}}})
                                 .Output("y"),
                             Options({}, {1, 2}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->plans.size(), 2u);
  EXPECT_EQ(model->info.OutputDims(0), (om::Dims{8}));
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
  EXPECT_THAT(ImagesOf(*model), ElementsAre(1));
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
