#include "npu_sim/compiler/passes/lower_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "npu_sim/compiler/ir/print.h"
#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/parse_graph.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::compiler {
namespace {

using Scope = Precision::Scope;

om::Graph Lowered(const std::string& text, const Precision& precision) {
  om::Graph graph = ParseGraph(text);
  EXPECT_TRUE(LowerPrecision(graph, precision).ok());
  EXPECT_TRUE(VerifyGraph(graph).ok()) << VerifyGraph(graph).message();
  return graph;
}

std::string LoweredText(const std::string& text, const Precision& precision) {
  return PrintGraph(Lowered(text, precision));
}

// The first output for `input` in every element of the first input.
float FirstResult(const om::Graph& graph, float input) {
  std::vector<float> values(
      static_cast<size_t>(om::ElementCount(graph.tensors[static_cast<size_t>(graph.inputs[0])].dims)), input);
  om::Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const auto results = program::EvaluateGraph(graph, {bytes});
  EXPECT_TRUE(results.ok()) << results.status().message();
  float result = 0;
  std::memcpy(&result, (*results)[0].data(), sizeof result);
  return result;
}

// Values by hand from IEEE 754: halves have 10 bits of fraction, their least normal number is 2^-14, their greatest
// 65504; bfloat16 has 7 bits and float32's exponents.
TEST(RoundToTest, RoundsToTheNearestAndToEvenInTheMiddle) {
  const float infinity = std::numeric_limits<float>::infinity();
  struct Case {
    om::DataType type;
    float value, rounded;
  };
  const Case cases[] = {
      {om::DataType::kFloat16, 1 + 0x1p-11f, 1},
      {om::DataType::kFloat16, 1 + 0x1.8p-10f, 1 + 0x1p-9f},
      {om::DataType::kFloat16, 1 + 0x1.002p-11f, 1 + 0x1p-10f},
      {om::DataType::kFloat16, -2047.75f, -2048},
      {om::DataType::kFloat16, 65519.9961f, 65504},
      {om::DataType::kFloat16, 65520, infinity},
      {om::DataType::kFloat16, -1e30f, -infinity},
      {om::DataType::kFloat16, infinity, infinity},
      {om::DataType::kFloat16, 0x1p-14f, 0x1p-14f},
      {om::DataType::kFloat16, 0x1.ffep-15f, 0x1p-14f},
      {om::DataType::kFloat16, 0x1p-25f, 0},
      {om::DataType::kFloat16, -0x1.8p-24f, -0x1p-23f},
      {om::DataType::kFloat16, 0x1.000002p-25f, 0x1p-24f},
      {om::DataType::kBFloat16, 1 + 0x1p-8f, 1},
      {om::DataType::kBFloat16, -1 - 0x1.8p-7f, -1 - 0x1p-6f},
      {om::DataType::kBFloat16, 0x1.ffp127f, infinity},
      {om::DataType::kBFloat16, 0x1.01p-126f, 0x1p-126f},
  };
  for (const Case& c : cases) {
    om::Graph graph = ParseGraph("input x: float32[1,3,3,3]\ny: float32[1,3,3,3] = Relu(x)\noutput y\n");
    graph.nodes[0].op = "RoundTo";
    graph.nodes[0].attributes["to"] = static_cast<int64_t>(c.type);
    const float result = FirstResult(graph, c.value);
    EXPECT_EQ(result, c.rounded) << om::ToString(c.type) << ' ' << c.value;
    EXPECT_EQ(std::signbit(result), std::signbit(c.rounded)) << c.value;
    EXPECT_TRUE(std::isnan(FirstResult(graph, std::nanf("")))) << om::ToString(c.type);
  }
}

constexpr const char* kNet = R"(input x: float32[1,1,1,1]
const w: float32[1,1,1,1] = [0.33333334]
c: float32[1,1,1,1] = Conv(x, w) {dilations=[1,1], group=1, pads=[0,0,0,0], strides=[1,1]}
y: float32[1,1,1,1] = Sigmoid(c)
output y
)";

TEST(LowerPrecisionTest, Float32LeavesTheGraphAlone) { EXPECT_EQ(LoweredText(kNet, {}), PrintGraph(ParseGraph(kNet))); }

TEST(LowerPrecisionTest, EveryOperatorRoundsItsOperandsOnceAndItsResults) {
  EXPECT_EQ(LoweredText(kNet, {om::DataType::kFloat16, Scope::kAll, {}, {}}), R"(input x: float32[1,1,1,1]
const w.float16: float32[1,1,1,1] = [0.33325195]
x.float16: float32[1,1,1,1] = RoundTo(x) {to=1}
c.computed: float32[1,1,1,1] = Conv(x.float16, w.float16) {dilations=[1,1], group=1, pads=[0,0,0,0], strides=[1,1]}
c: float32[1,1,1,1] = RoundTo(c.computed) {to=1}
y.computed: float32[1,1,1,1] = Sigmoid(c)
y: float32[1,1,1,1] = RoundTo(y.computed) {to=1}
output y
)");
}

TEST(LowerPrecisionTest, MatrixOperandsAloneLeaveResultsAsTheyAre) {
  EXPECT_EQ(LoweredText(kNet, {om::DataType::kBFloat16, Scope::kMatrixOperands, {}, {}}), R"(input x: float32[1,1,1,1]
const w.bfloat16: float32[1,1,1,1] = [0.33398438]
x.bfloat16: float32[1,1,1,1] = RoundTo(x) {to=27}
c: float32[1,1,1,1] = Conv(x.bfloat16, w.bfloat16) {dilations=[1,1], group=1, pads=[0,0,0,0], strides=[1,1]}
y: float32[1,1,1,1] = Sigmoid(c)
output y
)");
}

TEST(LowerPrecisionTest, RecurrencesHaveThreeMatrixOperands) {
  om::GraphBuilder builder;
  const std::vector<om::TensorId> inputs = {builder.Input({2, 1, 3}), builder.Random({1, 4, 3}, 1),
                                            builder.Random({1, 4, 4}, 2), builder.Random({1, 8}, 3)};
  builder.Output(builder.Nodes("RNN", inputs, {{2, 1, 1, 4}, {1, 1, 4}})[0]);
  om::Graph graph = builder.graph();
  Precision precision;
  precision.type = om::DataType::kFloat16;
  precision.scope = Scope::kMatrixOperands;
  ASSERT_TRUE(LowerPrecision(graph, precision).ok());
  ASSERT_EQ(graph.nodes.back().op, "RNN");
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(graph.nodes.back().inputs[i] != inputs[i], i < 3) << "operand " << i;
}

TEST(LowerPrecisionTest, KeptNodesStayInFloat32AndTheOthersRoundWhatTheyGive) {
  const char* expected = R"(input x: float32[1,1,1,1]
const w: float32[1,1,1,1] = [0.33333334]
c: float32[1,1,1,1] = Conv(x, w) {dilations=[1,1], group=1, pads=[0,0,0,0], strides=[1,1]}
c.float16: float32[1,1,1,1] = RoundTo(c) {to=1}
y.computed: float32[1,1,1,1] = Sigmoid(c.float16)
y: float32[1,1,1,1] = RoundTo(y.computed) {to=1}
output y
)";
  EXPECT_EQ(LoweredText(kNet, {om::DataType::kFloat16, Scope::kAll, {"c"}, {}}), expected);
  EXPECT_EQ(LoweredText(kNet, {om::DataType::kFloat16, Scope::kAll, {}, {"Conv"}}), expected);
}

TEST(LowerPrecisionTest, WhatAnImporterMakesOnTheWayToAKeptResultIsKept) {
  const std::string text = LoweredText(R"(input x: float32[1,4]
y.1: float32[1,4] = Exp(x)
y: float32[1,4] = Log(y.1)
y.z: float32[1,4] = Exp(y)
output y.z
)",
                                       {om::DataType::kFloat16, Scope::kAll, {"y"}, {}});
  EXPECT_EQ(text, R"(input x: float32[1,4]
y.1: float32[1,4] = Exp(x)
y: float32[1,4] = Log(y.1)
y.float16: float32[1,4] = RoundTo(y) {to=1}
y.z.computed: float32[1,4] = Exp(y.float16)
y.z: float32[1,4] = RoundTo(y.z.computed) {to=1}
output y.z
)");
}

TEST(LowerPrecisionTest, WhatOnlyMovesShortNumbersIsNotRoundedAgain) {
  EXPECT_EQ(LoweredText(R"(input x: float32[1,2,4]
a: float32[1,2,4] = Exp(x)
b: float32[1,4,2] = Transpose(a) {perm=[0,2,1]}
y: float32[1,4,2] = Relu(b)
output y
)",
                        {om::DataType::kFloat16, Scope::kAll, {}, {}}),
            R"(input x: float32[1,2,4]
x.float16: float32[1,2,4] = RoundTo(x) {to=1}
a.computed: float32[1,2,4] = Exp(x.float16)
a: float32[1,2,4] = RoundTo(a.computed) {to=1}
b: float32[1,4,2] = Transpose(a) {perm=[0,2,1]}
y: float32[1,4,2] = Relu(b)
output y
)");
}

// A third is 1365/4096 as a half. Its square is 1863225/2^24, or 1819.56 last places of the halves around it.
TEST(LowerPrecisionTest, ResultsAreThoseOfADeviceThatComputesInHalves) {
  const std::string product = R"(input x: float32[1,1,1,1]
const w: float32[1,1,1,1] = [0.33333334]
y: float32[1,1,1,1] = Conv(x, w) {dilations=[1,1], group=1, pads=[0,0,0,0], strides=[1,1]}
output y
)";
  const auto result = [&](Scope scope) {
    return FirstResult(Lowered(product, {om::DataType::kFloat16, scope, {}, {}}), 1.0f / 3);
  };
  EXPECT_EQ(result(Scope::kMatrixOperands), 1863225 * 0x1p-24f);
  EXPECT_EQ(result(Scope::kMatrices), 1820 * 0x1p-14f);
  EXPECT_EQ(result(Scope::kAll), 1820 * 0x1p-14f);
}

}  // namespace
}  // namespace npustream::compiler
