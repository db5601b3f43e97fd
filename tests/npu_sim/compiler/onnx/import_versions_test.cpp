// What operators mean in the operator set that a model names, and initializers that are inputs too. Expected values are
// calculated by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/compute.h"
#include "tests/npu_sim/compiler/support/model_builder.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

om::Dims ResultDims(const OnnxModel& model) {
  const auto graph = ImportModel(model, {});
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph->tensors[static_cast<size_t>(graph->outputs[0])].dims : om::Dims{};
}

ModelBuilder Slice(int64_t opset) {
  ModelBuilder builder(opset);
  builder.Input("x", {4});
  if (opset < 10) return builder.Node("Slice", {"x"}, "y", {{"starts", Ints{1}}, {"ends", Ints{-1}}}).Output("y");
  return builder.Ints("starts", {1}).Ints("ends", {-1}).Node("Slice", {"x", "starts", "ends"}, "y").Output("y");
}

ModelBuilder Clip(int64_t opset) {
  ModelBuilder builder(opset);
  builder.Input("x", {4});
  if (opset < 11) return builder.Node("Clip", {"x"}, "y", {{"max", 2.5f}}).Output("y");
  return builder.Floats("most", {}, {2.5f}).Node("Clip", {"x", "", "most"}, "y").Output("y");
}

ModelBuilder TopK(int64_t opset) {
  ModelBuilder builder(opset);
  builder.Input("x", {4});
  if (opset < 10) return builder.NodeOfMany("TopK", {"x"}, {"y", "places"}, {{"k", int64_t{2}}}).Output("y");
  return builder.Ints("k", {2}).NodeOfMany("TopK", {"x", "k"}, {"y", "places"}).Output("y");
}

ModelBuilder ReduceSum(int64_t opset) {
  ModelBuilder builder(opset);
  builder.Input("x", {2, 2});
  if (opset < 13) return builder.Node("ReduceSum", {"x"}, "y", {{"axes", Ints{-1}}}).Output("y");
  return builder.Ints("axes", {-1}).Node("ReduceSum", {"x", "axes"}, "y").Output("y");
}

ModelBuilder Upsample(int64_t opset) {
  ModelBuilder builder(opset);
  builder.Input("x", {1, 1, 1, 2});
  if (opset < 9) return builder.Node("Upsample", {"x"}, "y", {{"scales", Floats{1, 1, 1, 2}}}).Output("y");
  builder.Floats("scales", {4}, {1, 1, 1, 2});
  return builder.Node(opset < 10 ? "Upsample" : "Resize", {"x", "scales"}, "y").Output("y");
}

TEST(ImportVersionsTest, AttributesThatBecameInputsAreReadFromBoth) {
  for (const int64_t opset : {7, 9, 10, 11, 12, 13, 18, 21}) {
    SCOPED_TRACE(opset);
    EXPECT_THAT(Compute(Slice(opset), {1, 2, 3, 4}), ElementsAre(2, 3));
    EXPECT_THAT(Compute(Clip(opset), {1, 2, 3, 4}), ElementsAre(1, 2, 2.5f, 2.5f));
    EXPECT_THAT(Compute(TopK(opset), {1, 4, 3, 2}), ElementsAre(4, 3));
    EXPECT_THAT(Compute(ReduceSum(opset), {1, 2, 3, 4}), ElementsAre(3, 7));
  }
  for (const int64_t opset : {7, 9, 10}) {
    SCOPED_TRACE(opset);
    EXPECT_THAT(Compute(Upsample(opset), {1, 2}), ElementsAre(1, 1, 2, 2));
  }
}

// Two channels of two values; the scales of one group, or of both channels.
TEST(ImportVersionsTest, GroupNormalizationHadOneScalePerGroupBeforeOpset21) {
  const auto model = [](int64_t opset, const Floats& scale) {
    return ModelBuilder(opset)
        .Input("x", {1, 2, 2})
        .Floats("s", {static_cast<int64_t>(scale.size())}, scale)
        .Floats("b", {static_cast<int64_t>(scale.size())}, Floats(scale.size(), 1))
        .Node("GroupNormalization", {"x", "s", "b"}, "y", {{"num_groups", int64_t{1}}, {"epsilon", 0.0f}})
        .Output("y");
  };
  // Mean 2, deviation 1.
  EXPECT_THAT(Compute(model(18, {3}), {1, 3, 1, 3}), ElementsAre(-2, 4, -2, 4));
  EXPECT_THAT(Compute(model(21, {3, 2}), {1, 3, 1, 3}), ElementsAre(-2, 4, -1, 3));
  EXPECT_EQ(ImportModel(model(21, {3}), {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(ImportVersionsTest, BatchNormalizationInTrainingModeTakesTheInputsStatistics) {
  const auto model = ModelBuilder(15)
                         .Input("x", {2, 1, 2})
                         .Floats("s", {1}, {2})
                         .Floats("b", {1}, {1})
                         .Floats("m", {1}, {10})
                         .Floats("v", {1}, {5})
                         .NodeOfMany("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "mean", "variance"},
                                     {{"training_mode", int64_t{1}}, {"epsilon", 0.0f}, {"momentum", 0.75f}})
                         .Output("y")
                         .Output("mean")
                         .Output("variance");
  // Mean 3, variance 1.
  const Floats x = {2, 4, 4, 2};
  EXPECT_THAT(Compute(model, x), ElementsAre(-1, 3, 3, -1));
  EXPECT_THAT(Compute(model, x, 1), ElementsAre(10 * 0.75f + 3 * 0.25f));
  EXPECT_THAT(Compute(model, x, 2), ElementsAre(5 * 0.75f + 1 * 0.25f));
}

TEST(ImportVersionsTest, PaddingMayRepeatTheInput) {
  const auto model = ModelBuilder(19)
                         .Input("x", {3})
                         .Ints("pads", {2, 1})
                         .Node("Pad", {"x", "pads"}, "y", {{"mode", std::string("wrap")}})
                         .Output("y");
  EXPECT_THAT(Compute(model, {1, 2, 3}), ElementsAre(2, 3, 1, 2, 3, 1));
}

// 6 × 8 into 9 × 20: by 1.5 so that neither is larger, by 2.5 so that neither is smaller.
TEST(ImportVersionsTest, ResizeMayKeepTheAspectRatio) {
  const auto model = [](const char* policy) {
    return ModelBuilder(18)
        .Input("x", {1, 1, 6, 8})
        .Ints("sizes", {9, 20})
        .Node("Resize", {"x", "", "", "sizes"}, "y",
              {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", std::string(policy)}})
        .Output("y");
  };
  EXPECT_EQ(ResultDims(model("stretch")), (om::Dims{1, 1, 9, 20}));
  EXPECT_EQ(ResultDims(model("not_larger")), (om::Dims{1, 1, 9, 12}));
  EXPECT_EQ(ResultDims(model("not_smaller")), (om::Dims{1, 1, 15, 20}));
  EXPECT_EQ(ImportModel(model("fitting"), {}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace npustream::compiler
