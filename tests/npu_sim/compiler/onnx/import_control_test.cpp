// If: a branch that is known, branches that are chosen when the model runs, and names that branches share with the graph
// around them.
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
using testing::HasSubstr;

using Branch = std::shared_ptr<const OnnxGraph>;

Branch MakeBranch(const ModelBuilder& builder) {
  return std::make_shared<const OnnxGraph>(static_cast<const OnnxModel&>(builder).graph);
}

// One node whose operator reads x of the graph around it.
Branch OfX(const char* op) { return MakeBranch(ModelBuilder().Node(op, {"x"}, "t").Output("t")); }

ModelBuilder& If(ModelBuilder& builder, const char* condition, const char* output, Branch then, Branch otherwise) {
  builder.Node("If", {condition}, output);
  builder.model().graph.nodes.back().subgraphs = {{"then_branch", std::move(then)},
                                                  {"else_branch", std::move(otherwise)}};
  return builder;
}

ModelBuilder WithCondition(bool condition) {
  ModelBuilder builder;
  builder.Input("x", {2});
  builder.model().graph.initializers["c"] = {
      "c", om::DataType::kBool, {}, std::make_shared<const om::Bytes>(om::Bytes{std::byte{condition}})};
  return builder;
}

TEST(ImportControlTest, AConstantConditionTakesItsBranch) {
  for (const bool condition : {true, false}) {
    ModelBuilder builder = WithCondition(condition);
    If(builder, "c", "y", OfX("Neg"), OfX("Abs")).Output("y");
    EXPECT_THAT(Compute(builder, {1, -2}), condition ? ElementsAre(-1, 2) : ElementsAre(1, 2));
  }
}

// The other branch may hold anything.
TEST(ImportControlTest, TheBranchThatIsNotTakenNeedsNoImporter) {
  ModelBuilder builder = WithCondition(true);
  If(builder, "c", "y", OfX("Neg"), OfX("Unheard")).Output("y");
  EXPECT_THAT(Compute(builder, {1, -2}), ElementsAre(-1, 2));
}

// What PyTorch leaves of squeeze(0): whether there is something to squeeze follows from the shape.
TEST(ImportControlTest, AConditionOnShapesIsConstant) {
  ModelBuilder builder(11);
  builder.Input("x", {1, 2}).Node("Shape", {"x"}, "shape").Ints("zero", {0}).Ints("one", {1});
  builder.Node("Gather", {"shape", "zero"}, "extent").Node("Equal", {"extent", "one"}, "c");
  const Branch squeeze =
      MakeBranch(ModelBuilder(11).Node("Squeeze", {"x"}, "t", {{"axes", std::vector<int64_t>{0}}}).Output("t"));
  If(builder, "c", "y", squeeze, OfX("Identity")).Output("y");
  const auto graph = ImportModel(builder, {});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->outputs[0])].dims, om::Dims{2});
}

// Both branches name their result t, and so does another If's.
TEST(ImportControlTest, AConditionThatIsComputedChoosesBetweenBothResults) {
  ModelBuilder builder;
  builder.Input("x", {2}).Floats("zero", {1}, {0});
  builder.Node("ReduceSum", {"x"}, "sum", {{"keepdims", int64_t{0}}}).Node("Greater", {"sum", "zero"}, "c");
  If(builder, "c", "a", OfX("Neg"), OfX("Abs"));
  If(builder, "c", "b", OfX("Identity"), OfX("Relu"));
  builder.Node("Sub", {"a", "b"}, "y").Output("y");
  EXPECT_THAT(Compute(builder, {3, -2}), ElementsAre(-6, 4));
  EXPECT_THAT(Compute(builder, {1, -2}), ElementsAre(0, 2));
}

// A branch's branch reads tensors of both graphs around it and has constants of its own.
TEST(ImportControlTest, BranchesMayBeNested) {
  ModelBuilder inner, outer = WithCondition(true);
  inner.Node("Exp", {"x"}, "e").Output("t");
  If(inner, "c", "t", MakeBranch(ModelBuilder().Floats("k", {1}, {8}).Node("Sub", {"e", "k"}, "u").Output("u")),
     OfX("Abs"));
  outer.Node("Sub", {"x", "x"}, "zeros");
  If(outer, "c", "t", MakeBranch(inner), OfX("Neg")).Node("Add", {"t", "zeros"}, "y").Output("y");
  EXPECT_THAT(Compute(outer, {0, 0}), ElementsAre(-7, -7));
}

TEST(ImportControlTest, WhatCannotBeTakenIsSaid) {
  const auto refusal = [](const ModelBuilder& builder) { return ImportModel(builder, {}).status().message(); };
  ModelBuilder unlike;
  unlike.Input("x", {2}).Input("c", {1}, om::DataType::kBool);
  const Branch sum = MakeBranch(ModelBuilder().Node("ReduceSum", {"x"}, "t").Output("t"));
  If(unlike, "c", "y", sum, OfX("Abs")).Output("y");
  EXPECT_THAT(refusal(unlike), HasSubstr("its branches' results are not alike"));
  ModelBuilder dangling = WithCondition(true);
  If(dangling, "c", "y", MakeBranch(ModelBuilder().Output("nowhere")), OfX("Abs")).Output("y");
  EXPECT_THAT(refusal(dangling), HasSubstr("reads 'nowhere', which nothing produces"));
  ModelBuilder empty = WithCondition(true);
  empty.Node("If", {"c"}, "y").Output("y");
  EXPECT_THAT(refusal(empty), HasSubstr("it has no then_branch"));
  ModelBuilder many = WithCondition(true);
  If(many, "c", "y", MakeBranch(ModelBuilder().Node("Abs", {"x"}, "t").Output("t").Output("t")), OfX("Abs")).Output("y");
  EXPECT_THAT(refusal(many), HasSubstr("its then_branch has 2 results, not 1"));
}

}  // namespace
}  // namespace npustream::compiler
