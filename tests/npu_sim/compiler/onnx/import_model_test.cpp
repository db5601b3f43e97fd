#include "npu_sim/compiler/onnx/import_model.h"

#include <gmock/gmock.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "npu_sim/compiler/ir/print.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/ir/verify.h"
#include "tests/npu_sim/compiler/support/model_builder.h"

namespace npustream::compiler {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

std::string Import(const OnnxModel& model, const ImportOptions& options = {}) {
  const auto graph = ImportModel(model, options);
  if (!graph.ok()) return graph.status().message();
  EXPECT_TRUE(VerifyGraph(*graph).ok()) << VerifyGraph(*graph).message();
  return PrintGraph(*graph);
}

om::Dims OutputDims(const OnnxModel& model, const ImportOptions& options = {}) {
  const auto graph = ImportModel(model, options);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? TensorOf(*graph, graph->outputs[0]).dims : om::Dims{};
}

// An importer looks at its inputs while it adds tensors: wherever the list of tensors has to grow.
TEST(ImportModelTest, TensorsStayWhereTheyAreWhileOthersAreAdded) {
  for (int before = 0; before < 40; ++before) {
    ModelBuilder model;
    model.Input("x0", {1, 2, 9}).Weights("w", {4, 2, 3}).Weights("b", {4});
    for (int i = 0; i < before; ++i) model.Node("Relu", {fmt::format("x{}", i)}, fmt::format("x{}", i + 1));
    model.Node("Conv", {fmt::format("x{}", before), "w", "b"}, "y").Output("y");
    EXPECT_EQ(OutputDims(model), (om::Dims{1, 4, 7})) << before;
  }
}

// What PyTorch leaves of x.view(x.size(0), -1): Shape, Gather, Unsqueeze, Concat.
TEST(ImportModelTest, ArithmeticOnShapesFoldsIntoTheReshape) {
  const auto model = ModelBuilder(11)
                         .Input("x", {-1, 4, 2, 2})
                         .Floats("unused", {1}, {0})
                         .Node("Shape", {"x"}, "shape")
                         .Node("Constant", {}, "zero", {{"value_int", int64_t{0}}})
                         .Node("Gather", {"shape", "zero"}, "n", {{"axis", int64_t{0}}})
                         .Node("Unsqueeze", {"n"}, "n1", {{"axes", Ints{0}}})
                         .Ints("rest", {-1})
                         .Node("Concat", {"n1", "rest"}, "target", {{"axis", int64_t{0}}})
                         .Node("Reshape", {"x", "target"}, "y")
                         .Output("y");
  EXPECT_EQ(Import(model, {{{"x", {3, 4, 2, 2}}}, {}}),
            "input x: float32[3,4,2,2]\n"
            "y: float32[3,16] = Reshape(x)\n"
            "output y\n");
}

// What exporters leave of an upsampling to twice the size: Shape, Slice, Cast, Mul, Floor, Cast, Concat, Resize by
// sizes.
TEST(ImportModelTest, ComputedSizesFoldIntoTheResize) {
  const auto model = ModelBuilder(11)
                         .Input("x", {1, 2, 5, 7})
                         .Node("Shape", {"x"}, "shape")
                         .Ints("zero", {0})
                         .Ints("two", {2})
                         .Ints("four", {4})
                         .Node("Slice", {"shape", "zero", "two"}, "front")
                         .Node("Slice", {"shape", "two", "four"}, "back")
                         .Node("Cast", {"back"}, "real", {{"to", int64_t{1}}})
                         .Floats("factor", {1}, {2})
                         .Node("Mul", {"real", "factor"}, "doubled")
                         .Node("Floor", {"doubled"}, "whole")
                         .Node("Cast", {"whole"}, "size", {{"to", int64_t{7}}})
                         .Node("Concat", {"front", "size"}, "sizes", {{"axis", int64_t{0}}})
                         .Node("Resize", {"x", "", "", "sizes"}, "y", {{"mode", std::string("nearest")}})
                         .Output("y");
  EXPECT_THAT(Import(model), HasSubstr("y: float32[1,2,10,14] = Resize(x)"));
  EXPECT_THAT(Import(model), HasSubstr("scales=[1,1,2,2]f"));
}

TEST(ImportModelTest, NodesAreSortedAndThoseThatNoOutputNeedsAreLeftOut) {
  const auto model = ModelBuilder()
                         .Input("x", {1, 4})
                         .Node("Sigmoid", {"a"}, "y")
                         .Node("NoSuchOperator", {"x"}, "dead")
                         .Node("Relu", {"x"}, "a")
                         .Output("y");
  EXPECT_EQ(Import(model),
            "input x: float32[1,4]\n"
            "a: float32[1,4] = Relu(x)\n"
            "y: float32[1,4] = Sigmoid(a)\n"
            "output y\n");
}

TEST(ImportModelTest, OtherOutputsCanBeChosen) {
  const auto model = ModelBuilder().Input("x", {1, 4}).Node("Relu", {"x"}, "a").Node("Sigmoid", {"a"}, "y").Output("y");
  EXPECT_THAT(Import(model, {{}, {"a"}}), HasSubstr("output a\n"));
}

TEST(ImportModelTest, AnInputThatIsAnOutputIsCopied) {
  EXPECT_EQ(Import(ModelBuilder().Input("x", {2}).Node("Identity", {"x"}, "y").Output("y").Output("x")),
            "input x: float32[2]\n"
            "y: float32[2] = Reshape(x)\n"
            "x: float32[2] = Reshape(x)\n"
            "output y\n"
            "output x\n");
}

TEST(ImportModelTest, WeightsKeepTheirScales) {
  auto builder = ModelBuilder()
                     .Input("x", {1, 2})
                     .Floats("scale", {2}, {0.5f, 2})
                     .Node("DequantizeLinear", {"q", "scale", "zero"}, "w", {{"axis", int64_t{0}}})
                     .Node("MatMul", {"x", "w"}, "y")
                     .Output("y");
  auto& constants = builder.model().graph.initializers;
  constants["q"] = {"q",
                    om::DataType::kInt8,
                    {2, 2},
                    std::make_shared<om::Bytes>(om::Bytes{std::byte{10}, std::byte{0xff}, std::byte{3}, std::byte{4}})};
  constants["zero"] = {
      "zero", om::DataType::kInt8, {2}, std::make_shared<om::Bytes>(om::Bytes{std::byte{1}, std::byte{0}})};
  EXPECT_THAT(Import(builder), AllOf(HasSubstr("const q: int8[2,2] × [0.5, 2] from [1, 0] on axis 0 = [10, -1, 3, 4]"),
                                     HasSubstr("w: float32[2,2] = Dequantize(q)")));
  const auto graph = ImportModel(builder, {});
  ASSERT_TRUE(graph.ok());
  om::Graph folded = *graph;
  ASSERT_TRUE(FoldConstants(folded).ok());
  // (10 − 1) · 0.5, (−1 − 1) · 0.5, 3 · 2, 4 · 2
  EXPECT_THAT(PrintGraph(folded), HasSubstr("const w: float32[2,2] = [4.5, -1, 6, 8]"));
}

TEST(ImportModelTest, HalfPrecisionIsComputedInFloatAndConvertedAtTheEdges) {
  auto builder = ModelBuilder()
                     .Input("x", {2}, om::DataType::kFloat16)
                     .Node("Mul", {"x", "w"}, "m")
                     .Node("Cast", {"m"}, "c", {{"to", int64_t{10}}})
                     .Node("Relu", {"c"}, "y")
                     .Output("y");
  // 1 and −2.5 as binary16, little-endian.
  builder.model().graph.initializers["w"] = {
      "w",
      om::DataType::kFloat16,
      {2},
      std::make_shared<om::Bytes>(om::Bytes{std::byte{0}, std::byte{0x3c}, std::byte{0}, std::byte{0xc1}})};
  builder.model().graph.outputs[0].type = om::DataType::kFloat16;
  EXPECT_EQ(Import(builder),
            "input x: float16[2]\n"
            "const w: float32[2] = [1, -2.5]\n"
            "x.float: float32[2] = Cast(x)\n"
            "m: float32[2] = Mul(x.float, w)\n"
            "c: float32[2] = Cast(m)\n"
            "y.float: float32[2] = Relu(c)\n"
            "y: float16[2] = Cast(y.float)\n"
            "output y\n");
}

TEST(ImportModelTest, SoftmaxBeforeOpset13TakesAllAxesFromItsOwnOn) {
  const auto model =
      ModelBuilder(11).Input("x", {2, 3, 4}).Node("Softmax", {"x"}, "y", {{"axis", int64_t{1}}}).Output("y");
  EXPECT_EQ(Import(model),
            "input x: float32[2,3,4]\n"
            "y.0: float32[2,12] = Reshape(x)\n"
            "y.1: float32[2,12] = Softmax(y.0) {axis=1}\n"
            "y: float32[2,3,4] = Reshape(y.1)\n"
            "output y\n");
}

TEST(ImportModelTest, AutomaticPaddingBecomesPads) {
  const auto model =
      ModelBuilder()
          .Input("x", {1, 1, 5, 6})
          .Weights("w", {1, 1, 3, 3})
          .Node("Conv", {"x", "w"}, "y", {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}})
          .Output("y");
  EXPECT_THAT(Import(model), HasSubstr("y: float32[1,1,3,3] = Conv(x, w) {dilations=[1,1], group=1, pads=[1,0,1,1]"));
}

// PyTorch's documentation of ceil_mode: windows that would start in the padding at the end are left out.
TEST(ImportModelTest, CeilModeAddsOnlyWindowsThatStartInside) {
  const auto pool = [](int64_t extent, Ints pads) {
    return OutputDims(
        ModelBuilder()
            .Input("x", {1, 1, extent, extent})
            .Node("MaxPool", {"x"}, "y",
                  {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"pads", pads}, {"ceil_mode", int64_t{1}}})
            .Output("y"));
  };
  EXPECT_EQ(pool(5, {0, 0, 0, 0}), (om::Dims{1, 1, 3, 3}));
  EXPECT_EQ(pool(5, {1, 1, 1, 1}), (om::Dims{1, 1, 3, 3}));
  EXPECT_EQ(pool(4, {1, 1, 1, 1}), (om::Dims{1, 1, 3, 3}));
}

TEST(ImportModelTest, SlicesAreClamped) {
  const auto slice = [](const Ints& starts, const Ints& ends, const Ints& steps) {
    return OutputDims(ModelBuilder()
                          .Input("x", {10})
                          .Ints("starts", starts)
                          .Ints("ends", ends)
                          .Ints("axes", {0})
                          .Ints("steps", steps)
                          .Node("Slice", {"x", "starts", "ends", "axes", "steps"}, "y")
                          .Output("y"))[0];
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
  // As Python's list(range(10))[start:end:step] has it.
  EXPECT_EQ(slice({2}, {kMax}, {1}), 8);
  EXPECT_EQ(slice({-3}, {kMax}, {1}), 3);
  EXPECT_EQ(slice({kMin}, {100}, {3}), 4);
  EXPECT_EQ(slice({-1}, {kMin}, {-1}), 10);
  EXPECT_EQ(slice({100}, {0}, {-2}), 5);
  EXPECT_EQ(slice({5}, {2}, {1}), 0);
}

}  // namespace
}  // namespace npustream::compiler
