// LayerNormalization and Softmax by rows against the formulas in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::kernels {
namespace {

float Value(size_t i) { return static_cast<float>((i * 37) % 101) / 25.0f + 3.0f; }

om::Bytes ToBytes(const std::vector<float>& values) {
  om::Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> ToFloats(const om::Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// A LayerNormalization of `rows` rows of `length` values, its scale and bias being inputs too.
om::Graph LayerNormGraph(int64_t rows, int64_t length, bool has_bias) {
  om::Graph graph;
  graph.tensors = {{"x", om::DataType::kFloat32, {rows, length}, nullptr},
                   {"scale", om::DataType::kFloat32, {length}, nullptr},
                   {"bias", om::DataType::kFloat32, {length}, nullptr},
                   {"y", om::DataType::kFloat32, {rows, length}, nullptr}};
  om::Node node{"n", "LayerNormalization", {0, 1}, {3}, {{"axis", int64_t{1}}, {"epsilon", 0.01f}}};
  if (has_bias) node.inputs.push_back(2);
  graph.nodes = {node};
  graph.inputs = {0, 1, 2};
  graph.outputs = {3};
  return graph;
}

void CheckRows(size_t length, bool has_bias) {
  SCOPED_TRACE(length);
  constexpr size_t kRows = 3;
  std::vector<float> x(kRows * length), scale(length), bias(length);
  for (size_t i = 0; i < x.size(); ++i) x[i] = Value(i);
  for (size_t i = 0; i < length; ++i) scale[i] = Value(i + 5), bias[i] = Value(i + 11);
  const om::Graph graph = LayerNormGraph(kRows, static_cast<int64_t>(length), has_bias);
  const auto results = program::EvaluateGraph(graph, {ToBytes(x), ToBytes(scale), ToBytes(bias)});
  ASSERT_TRUE(results.ok()) << results.status().message();
  const std::vector<float> y = ToFloats(results->at(0));
  for (size_t r = 0; r < kRows; ++r) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < length; ++i) mean += static_cast<double>(x[r * length + i]) / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) {
      variance += std::pow(static_cast<double>(x[r * length + i]) - mean, 2) / static_cast<double>(length);
    }
    for (size_t i = 0; i < length; ++i) {
      const double standard = (static_cast<double>(x[r * length + i]) - mean) / std::sqrt(variance + 0.01);
      const double want = standard * static_cast<double>(scale[i]) + (has_bias ? static_cast<double>(bias[i]) : 0);
      EXPECT_NEAR(static_cast<double>(y[r * length + i]), want, 2e-5) << r << ", " << i;
    }
  }
}

TEST(LayerNormTest, StandardisesRowsOfEveryLength) {
  for (const size_t length : {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 197}) CheckRows(length, length % 2 == 0);
}

TEST(LayerNormTest, RefusesAScaleOfAnotherLength) {
  om::Graph graph = LayerNormGraph(2, 8, true);
  graph.tensors[2].dims = {4};
  EXPECT_EQ(CheckNode(graph, graph.nodes[0]).code(), StatusCode::kInvalidArgument);
}

TEST(LayerNormTest, SoftmaxRowsOfEveryLengthSumToOne) {
  for (size_t n = 1; n < 70; ++n) {
    SCOPED_TRACE(n);
    std::vector<float> x(n), y(n + 1, -7.0f);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) x[i] = 90 * Value(i), sum += std::exp(static_cast<double>(x[i]) - 630);
    SimdFor(RunningIsa()).softmax_row(x.data(), y.data(), n);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(static_cast<double>(y[i]), std::exp(static_cast<double>(x[i]) - 630) / sum, 1e-6);
    }
    EXPECT_EQ(y[n], -7.0f);
  }
}

}  // namespace
}  // namespace npustream::kernels
