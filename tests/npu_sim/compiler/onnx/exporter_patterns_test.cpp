// What exporters write around the operators of a network: shapes that are taken apart and put together, bounds that are
// computed, axes in other places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "tests/npu_sim/compiler/support/compute.h"
#include "tests/npu_sim/compiler/support/model_builder.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;
using Reals = std::vector<float>;

om::Dims OutputDims(const OnnxModel& model) {
  const auto graph = ImportModel(model, {});
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph->tensors[static_cast<size_t>(graph->outputs[0])].dims : om::Dims{};
}

// A spectrogram that is held 2 below its peak.
TEST(ExporterPatternsTest, ABoundOfAClipMayBeComputed) {
  ModelBuilder builder(13);
  builder.Input("x", {4})
      .Node("ReduceMax", {"x"}, "peak", {{"keepdims", int64_t{0}}})
      .Floats("range", {}, {2})
      .Floats("most", {1}, {4})
      .Node("Sub", {"peak", "range"}, "least")
      .Node("Clip", {"x", "least", "most"}, "y")
      .Output("y");
  EXPECT_THAT(Compute(builder, {1, 5, 3.5f, -7}), ElementsAre(3, 4, 3.5f, 3));
}

TEST(ExporterPatternsTest, AComputedBoundOfManyNumbersIsRefused) {
  ModelBuilder builder(13);
  builder.Input("x", {2}).Node("Neg", {"x"}, "least").Node("Clip", {"x", "least"}, "y").Output("y");
  EXPECT_THAT(ImportModel(builder, {}).status().message(), HasSubstr("is not a single number"));
}

// PyTorch's pads count from the last axis: pairs of them are turned around and transposed.
TEST(ExporterPatternsTest, PadsThatAreTurnedAroundFold) {
  ModelBuilder builder(11);
  builder.Input("x", {1, 1, 1, 2})
      .Ints("pads", {1, 2, 0, 1, 0, 0, 0, 0})
      .Ints("pairs", {-1, 2})
      .Ints("last", {-1})
      .Ints("before", {std::numeric_limits<int64_t>::min() + 1})
      .Ints("axis", {0})
      .Node("Reshape", {"pads", "pairs"}, "p")
      .Node("Slice", {"p", "last", "before", "axis", "last"}, "turned")
      .Node("Transpose", {"turned"}, "t", {{"perm", Ints{1, 0}}})
      .Node("Reshape", {"t", "last"}, "list")
      .Node("Pad", {"x", "list"}, "y")
      .Output("y");
  EXPECT_EQ(OutputDims(builder), (om::Dims{1, 1, 2, 5}));
  EXPECT_THAT(Compute(builder, {3, 4}), ElementsAre(0, 3, 4, 0, 0, 0, 0, 0, 0, 0));
}

// TensorFlow's unstack of a shape.
TEST(ExporterPatternsTest, AShapeThatIsSplitFolds) {
  ModelBuilder builder(13);
  builder.Input("x", {2, 3, 4})
      .Node("Shape", {"x"}, "shape")
      .NodeOfMany("Split", {"shape"}, {"a", "b", "c"}, {{"axis", int64_t{0}}})
      .Node("Mul", {"a", "c"}, "ac")
      .Node("Concat", {"b", "ac"}, "target", {{"axis", int64_t{0}}})
      .Node("Reshape", {"x", "target"}, "y")
      .Output("y");
  EXPECT_EQ(OutputDims(builder), (om::Dims{3, 8}));
}

TEST(ExporterPatternsTest, PlacesOfAConstantThatAreNotZero) {
  ModelBuilder builder(13);
  builder.Input("x", {2, 3})
      .Floats("mask", {2, 3}, {0, 1, 0, 2, 0, -1})
      .Node("NonZero", {"mask"}, "places")
      .Node("Transpose", {"places"}, "rows", {{"perm", Ints{1, 0}}})
      .Node("GatherND", {"x", "rows"}, "y")
      .Output("y");
  EXPECT_THAT(Compute(builder, {10, 11, 12, 13, 14, 15}), ElementsAre(11, 13, 15));
}

TEST(ExporterPatternsTest, PlacesOfAComputedTensorAreRefused) {
  ModelBuilder builder(13);
  builder.Input("x", {2}).Node("NonZero", {"x"}, "y").Output("y");
  EXPECT_THAT(ImportModel(builder, {}).status().message(), HasSubstr("must be constant"));
}

// A mask by rows between a column and one number: no two of the three have the result's shape.
TEST(ExporterPatternsTest, AConditionMaySpreadOverOtherAxesThanItsValues) {
  ModelBuilder builder(13);
  builder.Input("x", {1, 2});
  builder.model().graph.initializers["c"] = {
      "c", om::DataType::kBool, {2, 1}, std::make_shared<const om::Bytes>(om::Bytes{std::byte{1}, std::byte{0}})};
  builder.Floats("low", {}, {-9}).Node("Where", {"c", "x", "low"}, "y").Output("y");
  EXPECT_THAT(Compute(builder, {1, 2}), ElementsAre(1, 2, -9, -9));
  builder = ModelBuilder(13);
  builder.Input("x", {1, 2}).Floats("zero", {2, 1}, {0, 1.5f}).Node("Greater", {"x", "zero"}, "c");
  builder.Floats("low", {}, {-9}).Node("Where", {"c", "x", "low"}, "y").Output("y");
  EXPECT_THAT(Compute(builder, {1, 2}), ElementsAre(1, 2, -9, 2));
}

TEST(ExporterPatternsTest, ChannelsMayBeLastInAResize) {
  ModelBuilder builder(13);
  builder.Input("x", {1, 1, 2, 2})
      .Floats("scales", {4}, {1, 2, 1.5f, 1})
      .Node("Resize", {"x", "", "scales"}, "y",
            {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}})
      .Output("y");
  EXPECT_EQ(OutputDims(builder), (om::Dims{1, 2, 3, 2}));
  EXPECT_THAT(Compute(builder, {1, 2, 3, 4}), ElementsAre(1, 2, 1, 2, 3, 4, 1, 2, 1, 2, 3, 4));
}

TEST(ExporterPatternsTest, ThreeAxesMayBeResized) {
  ModelBuilder builder(13);
  builder.Input("x", {1, 1, 1, 1, 2})
      .Floats("scales", {5}, {1, 1, 2, 2, 2})
      .Node("Resize", {"x", "", "scales"}, "y", {{"mode", "nearest"}})
      .Output("y");
  EXPECT_EQ(OutputDims(builder), (om::Dims{1, 1, 2, 2, 4}));
  EXPECT_THAT(Compute(builder, {7, 8}), ElementsAre(7, 7, 8, 8, 7, 7, 8, 8, 7, 7, 8, 8, 7, 7, 8, 8));
}

// Place 4 of 8 lies at 3 of 6: 4 / (8/6) is 3 in single precision, which ONNX Runtime computes in, and just below it in
// double precision.
TEST(ExporterPatternsTest, PlacesOfAResizeAreSinglePrecision) {
  ModelBuilder builder(13);
  builder.Input("x", {1, 1, 1, 6})
      .Ints("sizes", {1, 1, 1, 8})
      .Node("Resize", {"x", "", "", "sizes"}, "y",
            {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}})
      .Output("y");
  EXPECT_THAT(Compute(builder, {0, 1, 2, 3, 4, 5}), ElementsAre(0, 0, 1, 2, 3, 3, 4, 5));
}

// Sums of the four neighbours in ONNX Runtime's order, rounded after every operation, to the last bit.
TEST(ExporterPatternsTest, LinearResizesRoundAsOnnxRuntimeDoes) {
  ModelBuilder builder(13);
  builder.Input("x", {1, 1, 2, 2})
      .Floats("scales", {4}, {1, 1, 2, 2})
      .Node("Resize", {"x", "", "scales"}, "y", {{"mode", "linear"}})
      .Output("y");
  const Reals x = {0.1f, 0.7f, -0.3f, 0.9f};
  // Neighbours of each of the four places along an axis; the last one has a single one, twice.
  struct Place {
    size_t index[2];
    float weight[2];
  };
  const Place places[] = {{{0, 1}, {1, 0}}, {{0, 1}, {0.75f, 0.25f}}, {{0, 1}, {0.25f, 0.75f}}, {{1, 1}, {0.5f, 0.5f}}};
  Reals expected;
  for (const Place& row : places) {
    for (const Place& column : places) {
      float sum = 0;
      for (size_t i = 0; i < 4; ++i) {
        const float weight = column.weight[i % 2] * row.weight[i / 2];
        const float product = weight * x[row.index[i / 2] * 2 + column.index[i % 2]];
        sum = i == 0 ? product : sum + product;
      }
      expected.push_back(sum);
    }
  }
  EXPECT_THAT(Compute(builder, x), ElementsAreArray(expected));
}

// Weights of 8 bits that are widened: the more bytes do not make it another constant.
TEST(ExporterPatternsTest, AConstantThatIsOnlyConvertedFoldsWhateverItsSize) {
  constexpr int64_t kCount = 5 << 20;
  om::GraphBuilder builder;
  const om::TensorId weights = builder.Int8s({kCount}, std::vector<int8_t>(kCount, 3), {{1}, {0}, 0});
  const om::TensorId wide = builder.Node("Cast", {weights}, {kCount});
  builder.Output(builder.Node("Add", {builder.Input({kCount}), wide}, {kCount}));
  om::Graph graph = builder.graph();
  ASSERT_TRUE(FoldConstants(graph).ok());
  EXPECT_EQ(graph.nodes.size(), 1);
}

// CLIP's text encoder looks for the end of a sentence among the words, which are integers.
TEST(ExporterPatternsTest, TheLargestOfIntegersIsFound) {
  ModelBuilder builder(13);
  builder.Input("x", {2, 4})
      .Node("Cast", {"x"}, "words", {{"to", int64_t{6}}})
      .Node("ArgMax", {"words"}, "end", {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}})
      .Node("Cast", {"end"}, "y", {{"to", int64_t{1}}})
      .Output("y");
  EXPECT_THAT(Compute(builder, {1, 70000, 3, -4, -5, -7, -5, -2}), ElementsAre(1, 3));
}

// As ONNX says for casts from real numbers: towards zero; our kernel holds what the type cannot.
TEST(ExporterPatternsTest, CastsBetweenCommonTypes) {
  om::GraphBuilder builder;
  const om::TensorId x = builder.Input({5});
  const om::TensorId whole = builder.Node("Cast", {x}, {5}, {}, om::DataType::kInt32);
  const om::TensorId byte = builder.Node("Cast", {x}, {5}, {}, om::DataType::kUInt8);
  builder.Output(builder.Node("Cast", {whole}, {5}))
      .Output(builder.Node("Cast", {byte}, {5}))
      .Output(builder.Node("Cast", {whole}, {5}, {}, om::DataType::kInt64));
  const auto result = program::EvaluateGraph(builder.graph(), {om::ToBytes(Reals{1.9f, -1.9f, 300, -3e9f, NAN})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_THAT(om::FromBytes<float>((*result)[0]), ElementsAre(1, -1, 300, -2147483648.0f, 0));
  EXPECT_THAT(om::FromBytes<float>((*result)[1]), ElementsAre(1, 0, 255, 0, 0));
  EXPECT_THAT(om::FromBytes<int64_t>((*result)[2]), ElementsAre(1, -1, 300, -2147483648LL, 0));
}

}  // namespace
}  // namespace npustream::compiler
