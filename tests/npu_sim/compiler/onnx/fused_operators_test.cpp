// Operators of com.microsoft that stand for several of ONNX's, against their formulas in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "npu_sim/compiler/onnx/import_model.h"
#include "tests/npu_sim/compiler/support/compute.h"
#include "tests/npu_sim/compiler/support/model_builder.h"

namespace npustream::compiler {
namespace {

using testing::FloatNear;
using testing::Pointwise;
using Reals = std::vector<float>;

const Reals kX = {1, -2, 0.5f, 3};

ModelBuilder OfX(const char* op, std::vector<std::string> inputs, om::Attributes attributes = {}) {
  ModelBuilder builder(13);
  builder.Input("x", {2, 2})
      .Floats("bias", {2}, {0.5f, -1})
      .Floats("scale", {2}, {2, 3})
      .Floats("skip", {2, 2}, {1, 0, 2, 1});
  builder.Node(op, inputs, "y", std::move(attributes)).Output("y");
  builder.model().graph.nodes.back().domain = "com.microsoft";
  return builder;
}

void ExpectNear(const Reals& actual, const Reals& expected) {
  EXPECT_THAT(actual, Pointwise(FloatNear(1e-5f), expected));
}

template <typename Function>
Reals Each(const Reals& x, Function function) {
  Reals y;
  for (const float value : x) y.push_back(static_cast<float>(function(static_cast<double>(value))));
  return y;
}

const Reals kBiased = {1.5f, -3, 1, 2};

TEST(FusedOperatorsTest, Gelus) {
  const auto by_erf = [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); };
  const auto by_tanh = [](double v) {
    return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  ExpectNear(Compute(OfX("BiasGelu", {"x", "bias"}), kX), Each(kBiased, by_erf));
  ExpectNear(Compute(OfX("FastGelu", {"x", "bias"}), kX), Each(kBiased, by_tanh));
  ExpectNear(Compute(OfX("FastGelu", {"x"}), kX), Each(kX, by_tanh));
  ExpectNear(Compute(OfX("QuickGelu", {"x"}, {{"alpha", 2.0f}}), kX),
             Each(kX, [](double v) { return v / (1 + std::exp(-2 * v)); }));
}

// (1,−2; 0.5,3) and its transpose, halved.
TEST(FusedOperatorsTest, AScaledProductOfTransposedMatrices) {
  ExpectNear(Compute(OfX("FusedMatMul", {"x", "x"}, {{"transB", int64_t{1}}, {"alpha", 0.5f}}), kX),
             {2.5f, -2.75f, -2.75f, 4.625f});
  ExpectNear(Compute(OfX("FusedMatMul", {"x", "x"}, {{"transA", int64_t{1}}}), kX), {1.25f, -0.5f, -0.5f, 13});
}

// Rows of two: (a, b) is normalised to ±d / sqrt(d² + epsilon), d = (a − b) / 2.
TEST(FusedOperatorsTest, ASumIsNormalised) {
  ModelBuilder builder = OfX("SkipLayerNormalization", {"x", "skip", "scale", "bias", "bias"}, {{"epsilon", 0.25f}});
  builder.model().graph.nodes.back().outputs = {"y", "", "", "sum"};
  builder.Output("sum");
  const Reals sum = {2.5f, -3, 3, 3};
  ExpectNear(Compute(builder, kX, 1), sum);
  const auto share = [](double d) { return static_cast<float>(d / std::sqrt(d * d + 0.25)); };
  ExpectNear(Compute(builder, kX, 0), {2 * share(2.75) + 0.5f, 3 * share(-2.75) - 1, 0.5f, -1});
}

TEST(FusedOperatorsTest, RootMeanSquareNorms) {
  const auto root = [](double a, double b) { return std::sqrt((a * a + b * b) / 2 + 0.25); };
  const auto normal = [&](double a, double b) {
    return Reals{static_cast<float>(2 * a / root(a, b)), static_cast<float>(3 * b / root(a, b))};
  };
  Reals expected = normal(2, -2), second = normal(2.5, 4);
  expected.insert(expected.end(), second.begin(), second.end());
  ExpectNear(Compute(OfX("SkipSimplifiedLayerNormalization", {"x", "skip", "scale"}, {{"epsilon", 0.25f}}), kX),
             expected);
  ModelBuilder alone = OfX("SimplifiedLayerNormalization", {"x", "scale"}, {{"epsilon", 0.25f}});
  alone.model().graph.nodes.back().domain.clear();  // ONNX Runtime puts it into ONNX's own domain
  expected = normal(1, -2), second = normal(0.5, 3);
  expected.insert(expected.end(), second.begin(), second.end());
  ExpectNear(Compute(alone, kX), expected);
}

}  // namespace
}  // namespace npustream::compiler
