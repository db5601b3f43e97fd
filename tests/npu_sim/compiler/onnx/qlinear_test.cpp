// Operators on quantised tensors, with and without the passes that put them on integers. Results by hand: the operands'
// real numbers are small multiples of their scales, and no result lies half-way between two steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/model_builder.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::compiler {
namespace {

using Reals = std::vector<double>;

struct Quantised {
  float scale;
  int zero;
  std::vector<uint8_t> bytes;

  Reals Values() const {
    Reals values;
    for (const uint8_t byte : bytes) values.push_back((byte - zero) * static_cast<double>(scale));
    return values;
  }
};

const Quantised kX{0.5f, 10, {12, 9, 10, 20, 0, 16, 11, 13}}, kY{0.25f, 100, {104, 101, 97, 90, 120, 100, 103, 99}};
const om::Dims kDims = {1, 2, 2, 2};
constexpr float kScale = 0.37f;
constexpr int kZero = 50;

// Constants of one byte, or of one number, by the name of their value.
std::string Byte(ModelBuilder& builder, int value) {
  const std::string name = "byte" + std::to_string(value);
  builder.model().graph.initializers[name] = {
      name, om::DataType::kUInt8, {}, std::make_shared<om::Bytes>(om::Bytes{static_cast<std::byte>(value)})};
  return name;
}
std::string Number(ModelBuilder& builder, float value) {
  const std::string name = "number" + std::to_string(value);
  builder.Floats(name, {}, {value});
  return name;
}

struct Case {
  const char* op;
  om::Attributes attributes;
  std::vector<Quantised> operands;
  om::Dims result;
  Reals expected;  // before they are quantised
};

Reals Each(const Reals& x, double (*function)(double)) {
  Reals y;
  for (const double value : x) y.push_back(function(value));
  return y;
}

Reals Pairs(double (*function)(double, double)) {
  const Reals x = kX.Values(), y = kY.Values();
  Reals z;
  for (size_t i = 0; i < x.size(); ++i) z.push_back(function(x[i], y[i]));
  return z;
}

Reals Joined() {
  Reals all = kX.Values();
  const Reals more = kY.Values();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Shares of pairs, each in whole parts of floor(1 / kScale) = 2.
Reals Shares() {
  const Reals x = kX.Values();
  Reals shares;
  for (size_t i = 0; i < x.size(); ++i) {
    shares.push_back(2 * static_cast<double>(kScale) / (1 + std::exp(x[i ^ 1] - x[i])));
  }
  return shares;
}

std::vector<Case> Cases() {
  const Reals x = kX.Values();
  const Reals means = {(x[0] + x[1] + x[2] + x[3]) / 4, (x[4] + x[5] + x[6] + x[7]) / 4};
  return {
      {"QLinearAdd", {}, {kX, kY}, kDims, Pairs([](double a, double b) { return a + b; })},
      {"QLinearMul", {}, {kX, kY}, kDims, Pairs([](double a, double b) { return a * b; })},
      {"QLinearSigmoid", {}, {kX}, kDims, Each(x, [](double v) { return 1 / (1 + std::exp(-v)); })},
      {"QLinearLeakyRelu", {{"alpha", 0.1f}}, {kX}, kDims, Each(x, [](double v) { return v < 0 ? 0.1 * v : v; })},
      {"QLinearAveragePool", {{"kernel_shape", std::vector<int64_t>{2, 2}}}, {kX}, {1, 2, 1, 1}, means},
      {"QLinearGlobalAveragePool", {}, {kX}, {1, 2, 1, 1}, means},
      {"QLinearConcat", {{"axis", int64_t{1}}}, {kX, kY}, {1, 4, 2, 2}, Joined()},
      {"QLinearSoftmax", {{"axis", int64_t{-1}}, {"opset", int64_t{13}}}, {kX}, kDims, Shares()},
  };
}

ModelBuilder Build(const Case& c) {
  ModelBuilder builder;
  std::vector<std::string> inputs;
  const bool result_first = std::string(c.op) == "QLinearConcat";
  const std::vector<std::string> result = {Number(builder, kScale), Byte(builder, kZero)};
  if (result_first) inputs = result;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const std::string name = i == 0 ? "x" : "y";
    builder.Input(name, kDims, om::DataType::kUInt8);
    for (const std::string& part : {name, Number(builder, c.operands[i].scale), Byte(builder, c.operands[i].zero)}) {
      inputs.push_back(part);
    }
  }
  if (!result_first) inputs.insert(inputs.end(), result.begin(), result.end());
  builder.Node(c.op, inputs, "z", c.attributes).Output("z");
  builder.model().graph.nodes.back().domain = "com.microsoft";
  return builder;
}

void ExpectQuantised(const om::Graph& graph, const Case& c) {
  std::vector<om::Bytes> contents;
  for (const Quantised& operand : c.operands) contents.push_back(om::ToBytes(operand.bytes));
  const auto result = program::EvaluateGraph(graph, contents);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto bytes = om::FromBytes<uint8_t>((*result)[0]);
  ASSERT_EQ(bytes.size(), c.expected.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const double steps = std::round(c.expected[i] / static_cast<double>(kScale)) + kZero;
    EXPECT_EQ(bytes[i], std::clamp(steps, 0.0, 255.0)) << "element " << i;
  }
}

TEST(QLinearTest, ResultsAreThoseOfTheRealNumbers) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.op);
    const auto graph = ImportModel(Build(c), {});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->outputs[0])].dims, c.result);
    om::Graph passed = *graph;
    ASSERT_TRUE(RunPasses(passed, {}).ok());
    ExpectQuantised(*graph, c);
    ExpectQuantised(passed, c);
  }
}

// [1,2] × [3,2]ᵀ + C, C in steps of 0.5 · 0.25 and alpha over all of it: ((2,−1) · 0.5) · ((1,2),(4,0),(−2,6) · 0.25).
ModelBuilder BuildQGemm(bool quantised_result) {
  ModelBuilder builder;
  builder.Input("x", {1, 2}, om::DataType::kUInt8);
  auto& initializers = builder.model().graph.initializers;
  const auto constant = [&](const char* name, om::DataType type, const om::Dims& dims, om::Bytes bytes) {
    initializers[name] = {name, type, dims, std::make_shared<om::Bytes>(std::move(bytes))};
  };
  constant("b", om::DataType::kInt8, {3, 2}, om::ToBytes(std::vector<int8_t>{1, 2, 4, 0, -2, 6}));
  constant("b_zero", om::DataType::kInt8, {}, om::ToBytes(std::vector<int8_t>{0}));
  constant("c", om::DataType::kInt32, {3}, om::ToBytes(std::vector<int32_t>{8, -16, 0}));
  std::vector<std::string> inputs = {
      "x", Number(builder, 0.5f), Byte(builder, 10), "b", Number(builder, 0.25f), "b_zero", "c"};
  if (quantised_result) inputs.insert(inputs.end(), {Number(builder, 0.5f), Byte(builder, 100)});
  builder.Node("QGemm", inputs, "z", {{"transB", int64_t{1}}, {"alpha", 2.0f}}).Output("z");
  builder.model().graph.nodes.back().domain = "com.microsoft";
  return builder;
}

// By hand: products 0, 8, −10 in steps of 0.125, with C 8, −8, −10: times 2 these are 2, −2, −2.5.
TEST(QLinearTest, AMatrixProductWithItsBiasIsScaledByAlpha) {
  for (const bool quantised : {true, false}) {
    const auto graph = ImportModel(BuildQGemm(quantised), {});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    om::Graph passed = *graph;
    ASSERT_TRUE(RunPasses(passed, {}).ok());
    for (const om::Graph& tried : {*graph, passed}) {
      const auto result = program::EvaluateGraph(tried, {om::ToBytes(std::vector<uint8_t>{12, 9})});
      ASSERT_TRUE(result.ok()) << result.status().message();
      if (quantised) {
        EXPECT_EQ(om::FromBytes<uint8_t>((*result)[0]), (std::vector<uint8_t>{104, 96, 95}));
      } else {
        EXPECT_EQ(om::FromBytes<float>((*result)[0]), (std::vector<float>{2, -2, -2.5f}));
      }
    }
  }
}

TEST(QLinearTest, WhatCannotBeDoneIsSaid) {
  Case c = Cases()[4];
  c.attributes["channels_last"] = int64_t{1};
  const auto graph = ImportModel(Build(c), {});
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("channels_last is not supported"), std::string::npos);
}

}  // namespace
}  // namespace npustream::compiler
