// The example of an extension library: its operator and its pass.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/extension/registry.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/model_builder.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::compiler {
namespace {

const std::vector<float> kX = {-3, -0.5f, 0, 0.25f, 0.75f, 4};
// x · 2, held in [−1.5, 1.5]
const std::vector<float> kExpected = {-1.5f, -1, 0, 0.5f, 1.5f, 1.5f};

std::vector<float> Evaluate(const om::Graph& graph) {
  const auto result = program::EvaluateGraph(graph, {om::ToBytes(kX)});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? om::FromBytes<float>((*result)[0]) : std::vector<float>();
}

class ExtensionTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status loaded = extension::LoadLibrary(NPUSTREAM_EXAMPLE_EXTENSION);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
  }
};

TEST_F(ExtensionTest, ItsOperatorIsImportedAndRun) {
  ModelBuilder builder;
  builder.Input("x", {2, 3}).Node("ScaledClip", {"x"}, "y", {{"scale", 2.0f}, {"limit", 1.5f}}).Output("y");
  builder.model().graph.nodes.back().domain = "example";
  const auto graph = ImportModel(builder, {});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(Evaluate(*graph), kExpected);
}

TEST_F(ExtensionTest, WhatItsOperatorRefusesIsSaid) {
  ModelBuilder builder;
  builder.Input("x", {2, 3}).Node("ScaledClip", {"x"}, "y", {{"limit", -1.0f}}).Output("y");
  builder.model().graph.nodes.back().domain = "example";
  const auto graph = ImportModel(builder, {});
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("limit must be above 0"), std::string::npos) << graph.status().message();
}

TEST_F(ExtensionTest, ItsPassRunsAndCanBeSwitchedOff) {
  const auto builder = ModelBuilder()
                           .Input("x", {2, 3})
                           .Floats("two", {}, {2})
                           .Floats("low", {}, {-1.5f})
                           .Floats("high", {}, {1.5f})
                           .Node("Mul", {"x", "two"}, "m")
                           .Node("Clip", {"m", "low", "high"}, "y")
                           .Output("y");
  const auto graph = ImportModel(builder, {});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  om::Graph fused = *graph, apart = *graph;
  ASSERT_TRUE(RunPasses(fused, {}).ok());
  ASSERT_TRUE(RunPasses(apart, {"ExampleFuseScaledClip"}).ok());
  const auto has_custom = [](const om::Graph& g) {
    return std::any_of(g.nodes.begin(), g.nodes.end(),
                       [](const om::Node& node) { return node.op == "example.ScaledClip"; });
  };
  EXPECT_TRUE(has_custom(fused));
  EXPECT_FALSE(has_custom(apart));
  EXPECT_EQ(Evaluate(fused), kExpected);
  EXPECT_EQ(Evaluate(apart), kExpected);
}

TEST(ExtensionLibraryTest, OthersAreRefusedWithASentence) {
  const Status missing = extension::LoadLibrary("/no/such/library.so");
  EXPECT_FALSE(missing.ok());
  EXPECT_NE(missing.message().find("/no/such/library.so"), std::string::npos) << missing.message();
  // The C library is one without the entry function.
  EXPECT_FALSE(extension::LoadLibrary("libc.so.6").ok());
}

}  // namespace
}  // namespace npustream::compiler
