// Operators that are composed of others, in shapes that ONNX's own tests do not have. Expected values are calculated by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/compute.h"
#include "tests/npu_sim/compiler/support/model_builder.h"

namespace npustream::compiler {
namespace {

using testing::Pointwise;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

void ExpectResult(const OnnxModel& model, const Floats& x, const Floats& expected) {
  EXPECT_THAT(Compute(model, x), Pointwise(testing::FloatNear(1e-5f), expected));
}

ModelBuilder Convolution(const char* op, const om::Dims& x, const om::Dims& w, om::Attributes attributes = {}) {
  return ModelBuilder().Input("x", x).Weights("w", w).Node(op, {"x", "w"}, "y", std::move(attributes)).Output("y");
}

Floats CountUp(int count) {
  Floats values;
  for (int i = 1; i <= count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

// Weights are 0, 1/8, 2/8, …
TEST(ImportOperatorsTest, VolumesAreConvolved) {
  ExpectResult(Convolution("Conv", {1, 1, 2, 2, 2}, {1, 1, 2, 2, 2}), CountUp(8), {21});
  // Padding in depth.
  const om::Attributes padded = {{"pads", Ints{1, 0, 0, 1, 0, 0}}};
  ExpectResult(Convolution("Conv", {1, 1, 4, 1, 1}, {1, 1, 3, 1, 1}, padded), CountUp(4), {0.625f, 1, 1.375f, 0.5f});
  // Every other slice, taps two slices apart.
  const om::Attributes sparse = {{"strides", Ints{2, 1, 1}}, {"dilations", Ints{2, 1, 1}}};
  ExpectResult(Convolution("Conv", {1, 1, 5, 1, 1}, {1, 1, 2, 1, 1}, sparse), CountUp(5), {0.375f, 0.625f});
  // Two images, two groups.
  const om::Attributes grouped = {{"group", int64_t{2}}};
  ExpectResult(Convolution("Conv", {2, 2, 2, 1, 1}, {2, 1, 2, 1, 1}, grouped), CountUp(8),
               {0.25f, 2.25f, 0.75f, 4.75f});
  // A window of one place: 2 channels become 1.
  ExpectResult(Convolution("Conv", {1, 2, 1, 2, 2}, {1, 2, 1, 1, 1}), CountUp(8), {0.625f, 0.75f, 0.875f, 1});
}

TEST(ImportOperatorsTest, VolumesHaveABias) {
  const auto model = ModelBuilder()
                         .Input("x", {1, 1, 2, 2, 1})
                         .Weights("w", {2, 1, 2, 1, 1})
                         .Floats("b", {2}, {10, 20})
                         .Node("Conv", {"x", "w", "b"}, "y")
                         .Output("y");
  ExpectResult(model, {1, 2, 3, 4}, {10.375f, 10.5f, 21.375f, 22});
}

TEST(ImportOperatorsTest, VolumesAreConvolvedBackwards) {
  const om::Attributes wide = {{"strides", Ints{2, 1, 1}}};
  ExpectResult(Convolution("ConvTranspose", {1, 1, 2, 1, 1}, {1, 1, 2, 1, 1}, wide), {1, 2}, {0, 0.125f, 0, 0.25f});
  // Both slices meet in the middle, and the first slice of the result is cut off.
  const om::Attributes cut = {{"pads", Ints{1, 0, 0, 0, 0, 0}}};
  ExpectResult(Convolution("ConvTranspose", {1, 1, 2, 1, 1}, {1, 1, 2, 1, 1}, cut), {8, 16}, {1, 2});
  const om::Attributes grouped = {{"group", int64_t{2}}};
  ExpectResult(Convolution("ConvTranspose", {1, 2, 1, 1, 1}, {2, 1, 2, 1, 1}, grouped), {8, 16}, {0, 1, 4, 6});
}

// The full result has 4 places; the fifth is beyond what any input reaches.
TEST(ImportOperatorsTest, ATransposedConvolutionMayBeLargerThanItsFullResult) {
  const auto model = [](int64_t size) {
    return Convolution("ConvTranspose", {1, 1, 2}, {1, 1, 2}, {{"strides", Ints{2}}, {"output_shape", Ints{size}}});
  };
  ExpectResult(model(5), {8, 16}, {0, 1, 0, 2, 0});
  EXPECT_EQ(ImportModel(model(6), {}).status().code(), StatusCode::kUnsupported);
}

void CheckEinsum(const char* equation, const om::Dims& x, const om::Dims& w, const Floats& expected) {
  SCOPED_TRACE(equation);
  ModelBuilder builder;
  builder.Input("x", x);
  std::vector<std::string> inputs = {"x"};
  if (!w.empty()) {
    builder.Weights("w", w);
    inputs.push_back("w");
  }
  builder.Node("Einsum", inputs, "y", {{"equation", equation}}).Output("y");
  ExpectResult(builder, CountUp(static_cast<int>(om::ElementCount(x))), expected);
}

TEST(ImportOperatorsTest, EinsumOfOneOperand) {
  CheckEinsum("ii->i", {2, 2}, {}, {1, 4});
  CheckEinsum("ii", {2, 2}, {}, {5});
  CheckEinsum("ij->", {2, 2}, {}, {10});
  CheckEinsum("ij -> ji", {2, 2}, {}, {1, 3, 2, 4});
  CheckEinsum("ba", {2, 2}, {}, {1, 3, 2, 4});
  CheckEinsum("iji->j", {2, 2, 2}, {}, {7, 11});
  CheckEinsum("...i->...", {2, 1, 2}, {}, {3, 7});
}

// w counts 0, 1/8, 2/8, …
TEST(ImportOperatorsTest, EinsumOfTwoOperands) {
  CheckEinsum("ij,jk->ik", {2, 2}, {2, 2}, {0.5f, 0.875f, 1, 1.875f});
  CheckEinsum("i,j->ij", {2}, {2}, {0, 0.125f, 0, 0.25f});
  CheckEinsum("i,i", {3}, {3}, {1});
  CheckEinsum("i,i->i", {3}, {3}, {0, 0.25f, 0.75f});
  CheckEinsum("ij,k->kj", {2, 2}, {2}, {0, 0, 0.5f, 0.75f});
  CheckEinsum("bij,bjk->bik", {2, 1, 2}, {2, 2, 1}, {0.25f, 2.25f});
  CheckEinsum("bhid,bhjd->bhij", {1, 2, 1, 2}, {1, 2, 1, 2}, {0.25f, 2.25f});
  CheckEinsum("nchw,kc->nkhw", {1, 2, 1, 2}, {1, 2}, {0.375f, 0.5f});
  // An axis of size 1 repeats.
  CheckEinsum("...i,...i->...", {2, 2}, {1, 2}, {0.25f, 0.5f});
  CheckEinsum("ab...,b...->a...", {1, 2, 2}, {2, 1}, {0.375f, 0.5f});
}

ModelBuilder Resized(const om::Dims& x, const Floats& scales, om::Attributes attributes) {
  return ModelBuilder(18)
      .Input("x", x)
      .Floats("scales", {static_cast<int64_t>(scales.size())}, scales)
      .Node("Resize", {"x", "", "scales"}, "y", std::move(attributes))
      .Output("y");
}

// A quarter, three quarters, three quarters, a quarter of four neighbours; the edge stands for what is beyond it.
TEST(ImportOperatorsTest, ResizeAveragesOverWhatItMakesSmaller) {
  const om::Attributes smooth = {{"mode", "linear"}, {"antialias", int64_t{1}}};
  ExpectResult(Resized({1, 1, 1, 4}, {1, 1, 1, 0.5f}, smooth), {1, 2, 3, 4}, {1.625f, 3.375f});
  ExpectResult(Resized({1, 1, 4, 1}, {1, 1, 0.5f, 1}, smooth), {1, 2, 3, 4}, {1.625f, 3.375f});
  // What is made larger is as without.
  ExpectResult(Resized({1, 1, 1, 2}, {1, 1, 1, 2}, smooth), {1, 3}, {1, 1.5f, 2.5f, 3});
}

TEST(ImportOperatorsTest, ResizeTakesEveryAxis) {
  const om::Attributes linear = {{"mode", "linear"}};
  ExpectResult(Resized({2}, {2}, linear), {1, 3}, {1, 1.5f, 2.5f, 3});
  ExpectResult(Resized({1, 1, 2, 1, 1}, {1, 1, 2, 1, 1}, linear), {1, 3}, {1, 1.5f, 2.5f, 3});
  // Channels last: of two channels, 1 3 and 10 30.
  ExpectResult(Resized({1, 2, 1, 2}, {1, 2, 1, 1}, linear), {1, 10, 3, 30}, {1, 10, 1.5f, 15, 2.5f, 25, 3, 30});
  ExpectResult(Resized({1, 1, 2, 2}, {1, 1, 2, 1}, linear), {1, 10, 3, 30}, {1, 10, 1.5f, 15, 2.5f, 25, 3, 30});
  ExpectResult(Resized({2, 1, 1}, {2, 1, 2}, {{"mode", "nearest"}}), {1, 3}, {1, 1, 1, 1, 3, 3, 3, 3});
}

// Five places from −1/2 to 3/2 of three pixels: −1, 0, 1, 2, 3.
TEST(ImportOperatorsTest, ResizeMayCrop) {
  const auto model = ModelBuilder(13)
                         .Input("x", {1, 1, 1, 3})
                         .Floats("roi", {8}, {0, 0, 0, -0.5f, 1, 1, 1, 1.5f})
                         .Ints("sizes", {1, 1, 1, 5})
                         .Node("Resize", {"x", "roi", "", "sizes"}, "y",
                               {{"mode", "linear"},
                                {"coordinate_transformation_mode", "tf_crop_and_resize"},
                                {"extrapolation_value", 9.0f}})
                         .Output("y");
  ExpectResult(model, {1, 2, 4}, {9, 1, 2, 4, 9});
}

TEST(ImportOperatorsTest, PaddingMayCropAndMovesWholeRows) {
  const auto model = [](const om::Dims& x, const Ints& pads, const char* mode) {
    return ModelBuilder()
        .Input("x", x)
        .Ints("pads", pads)
        .Floats("nine", {}, {9})
        .Node("Pad", {"x", "pads", "nine"}, "y", {{"mode", mode}})
        .Output("y");
  };
  ExpectResult(model({2, 3}, {0, -1, 1, 2}, "constant"), CountUp(6), {2, 3, 9, 9, 5, 6, 9, 9, 9, 9, 9, 9});
  ExpectResult(model({1, 2, 1}, {1, 0, 0, 1, 0, 0}, "constant"), {1, 2}, {9, 9, 1, 2, 9, 9});
  ExpectResult(model({2, 3}, {1, 2, 0, 1}, "reflect"), CountUp(6),
               {6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5});
  ExpectResult(model({1, 3}, {0, 1, 1, -1}, "edge"), CountUp(3), {1, 1, 2, 1, 1, 2});
}

TEST(ImportOperatorsTest, NormsArePooled) {
  const auto model = [](const char* op, om::Attributes attributes) {
    return ModelBuilder(18).Input("x", {1, 1, 4}).Node(op, {"x"}, "y", std::move(attributes)).Output("y");
  };
  ExpectResult(model("LpPool", {{"kernel_shape", Ints{2}}}), {3, -4, 0, 1}, {5, 4, 1});
  ExpectResult(model("LpPool", {{"kernel_shape", Ints{2}}, {"p", int64_t{1}}, {"pads", Ints{1, 0}}}), {3, -4, 0, 1},
               {3, 7, 4, 1});
  ExpectResult(model("GlobalLpPool", {{"p", int64_t{3}}}), {1, -2, 0, 0}, {2.0800838f});
}

// Ties go to the first; in a plane of 2 × 3, column by column, its second row's third place is 5, and its first row's
// second is 2.
TEST(ImportOperatorsTest, PlacesOfMaxima) {
  const auto model = [](const om::Dims& x, const Ints& kernel, int64_t order) {
    return ModelBuilder()
        .Input("x", x)
        .NodeOfMany("MaxPool", {"x"}, {"m", "i"}, {{"kernel_shape", kernel}, {"storage_order", order}})
        .Node("Cast", {"i"}, "y", {{"to", int64_t{1}}})
        .Output("y");
  };
  ExpectResult(model({1, 2, 2, 2, 1}, {2, 2, 1}, 0), {0, 0, 0, 0, 1, 2, 3, 4}, {0, 7});
  ExpectResult(model({1, 1, 2, 3}, {2, 2}, 1), {0, 9, 0, 0, 0, 10}, {2, 5});
  ExpectResult(model({1, 1, 4}, {2}, 0), {4, 3, 2, 5}, {0, 1, 3});
}

TEST(ImportOperatorsTest, IntegersAreDividedByTheLargestOfTheirType) {
  om::Tensor divisor{"d", om::DataType::kUInt8, {1}, std::make_shared<const om::Bytes>(1, std::byte{255})};
  ModelBuilder builder;
  builder.Input("x", {2}).Node("Cast", {"x"}, "i", {{"to", int64_t{2}}}).Node("Div", {"i", "d"}, "q");
  builder.model().graph.initializers["d"] = divisor;
  builder.Node("Mod", {"i", "d"}, "r")
      .Node("Add", {"q", "r"}, "s")
      .Node("Cast", {"s"}, "y", {{"to", int64_t{1}}})
      .Output("y");
  ExpectResult(builder, {200, 255}, {200, 1});
}

TEST(ImportOperatorsTest, ClipHoldsIntegersAndTakesComputedBounds) {
  ModelBuilder whole;
  whole.Input("x", {3}).Node("Cast", {"x"}, "i", {{"to", int64_t{7}}}).Node("Clip", {"i", "low", "high"}, "c");
  for (const auto& [name, value] : {std::pair<const char*, int64_t>{"low", -1}, {"high", 2}})
    whole.model().graph.initializers[name] = MakeInts(name, {}, {&value, 1});
  ExpectResult(whole.Node("Cast", {"c"}, "y", {{"to", int64_t{1}}}).Output("y"), {-5, 1, 5}, {-1, 1, 2});
  const auto computed = ModelBuilder()
                            .Input("x", {3})
                            .Node("ReduceMax", {"x"}, "m", {{"keepdims", int64_t{0}}})
                            .Node("Neg", {"m"}, "low")
                            .Node("Clip", {"x", "low"}, "y")
                            .Output("y");
  ExpectResult(computed, {-5, 1, 3}, {-3, 1, 3});
}

// Where the condition repeats along axes that both sides have.
TEST(ImportOperatorsTest, AMaskRepeatsOverTheBatch) {
  ExpectResult(ModelBuilder(14).Input("x", {2, 2, 2}).Node("Trilu", {"x"}, "y", {{"upper", int64_t{0}}}).Output("y"),
               CountUp(8), {1, 0, 3, 4, 5, 0, 7, 8});
}

std::shared_ptr<const OnnxGraph> Body(const ModelBuilder& builder) {
  return std::make_shared<const OnnxGraph>(static_cast<const OnnxModel&>(builder).graph);
}

// v doubles and grows by x three times; what it was after each round is kept.
ModelBuilder Loop() {
  ModelBuilder body, builder;
  body.Input("i", {}, om::DataType::kInt64).Input("go", {}, om::DataType::kBool).Input("v", {1});
  body.Node("Add", {"v", "v"}, "d").Node("Add", {"d", "x"}, "w").Node("Identity", {"w"}, "kept");
  body.Output("go").Output("w").Output("kept");
  builder.Input("x", {1}).Floats("start", {1}, {1}).Ints("trips", {3});
  builder.NodeOfMany("Loop", {"trips", "", "start"}, {"last", "all"});
  builder.model().graph.nodes.back().subgraphs = {{"body", Body(body)}};
  return builder;
}

TEST(ImportOperatorsTest, LoopsAreUnrolled) {
  ExpectResult(Loop().Output("all"), {1}, {3, 7, 15});
  ExpectResult(Loop().Output("last"), {1}, {15});
}

// A running sum from the end to the beginning.
TEST(ImportOperatorsTest, ScansAreUnrolled) {
  ModelBuilder body, builder;
  body.Input("sum", {2}).Input("row", {2}).Node("Add", {"sum", "row"}, "s").Node("Identity", {"s"}, "o");
  body.Output("s").Output("o");
  builder.Input("x", {3, 2})
      .Floats("zero", {2}, {0, 0})
      .NodeOfMany(
          "Scan", {"zero", "x"}, {"total", "y"},
          {{"num_scan_inputs", int64_t{1}}, {"scan_input_directions", Ints{1}}, {"scan_output_directions", Ints{1}}});
  builder.model().graph.nodes.back().subgraphs = {{"body", Body(body)}};
  ExpectResult(builder.Output("y"), CountUp(6), {9, 12, 8, 10, 5, 6});
}

TEST(ImportOperatorsTest, RootMeanSquares) {
  const auto model = ModelBuilder()
                         .Input("x", {1, 2})
                         .Floats("s", {2}, {1, 10})
                         .Node("SimplifiedLayerNormalization", {"x", "s"}, "y", {{"epsilon", 0.0f}})
                         .Output("y");
  ExpectResult(model, {1, 7}, {0.2f, 14});
}

}  // namespace
}  // namespace npustream::compiler
