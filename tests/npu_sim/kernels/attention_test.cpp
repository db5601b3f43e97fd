// Attention against the formula in double precision, in several orders of axes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::kernels {
namespace {

struct Case {
  int64_t batch, heads, rows, keys, depth, value_depth;
  bool heads_inside;  // tensors are [batch, rows, heads, depth]
  om::Dims mask;      // empty: none
};

float Value(int64_t i, int64_t salt) { return static_cast<float>((i * 37 + salt) % 101) / 50.0f - 1.0f; }

om::Dims DimsOf(const Case& c, int64_t rows, int64_t depth) {
  if (c.heads_inside) return {c.batch, rows, c.heads, depth};
  return {c.batch, c.heads, rows, depth};
}

// Offset of [b, h, r, d].
int64_t Place(const Case& c, int64_t rows, int64_t depth, int64_t b, int64_t h, int64_t r, int64_t d) {
  if (c.heads_inside) return ((b * rows + r) * c.heads + h) * depth + d;
  return ((b * c.heads + h) * rows + r) * depth + d;
}

om::Graph MakeGraph(const Case& c) {
  om::Graph graph;
  const auto add = [&](const char* name, om::Dims dims) {
    graph.tensors.push_back({name, om::DataType::kFloat32, std::move(dims), nullptr});
  };
  add("q", DimsOf(c, c.rows, c.depth));
  add("k", DimsOf(c, c.keys, c.depth));
  add("v", DimsOf(c, c.keys, c.value_depth));
  add("y", DimsOf(c, c.rows, c.value_depth));
  om::Node node{"n", "Attention", {0, 1, 2}, {3}, {{"scale", 0.5f}}};
  graph.inputs = {0, 1, 2};
  if (!c.mask.empty()) {
    add("mask", c.mask);
    node.inputs.push_back(4);
    graph.inputs.push_back(4);
  }
  if (c.heads_inside) {
    for (const char* name : {"q_perm", "k_perm", "v_perm", "y_perm"})
      node.attributes[name] = std::vector<int64_t>{0, 2, 1, 3};
  }
  graph.nodes = {node};
  graph.outputs = {3};
  return graph;
}

int64_t MaskPlace(const om::Dims& mask, std::vector<int64_t> index) {
  index.erase(index.begin(), index.end() - static_cast<std::ptrdiff_t>(mask.size()));
  int64_t place = 0;
  for (size_t i = 0; i < mask.size(); ++i) place = place * mask[i] + (mask[i] == 1 ? 0 : index[i]);
  return place;
}

void Check(const Case& c) {
  const om::Graph graph = MakeGraph(c);
  std::vector<om::Bytes> inputs;
  std::vector<std::vector<float>> values;
  for (const om::TensorId id : graph.inputs) {
    std::vector<float> tensor(static_cast<size_t>(om::ElementCount(graph.tensors[static_cast<size_t>(id)].dims)));
    for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = 3 * Value(static_cast<int64_t>(i), id * 11);
    inputs.emplace_back(tensor.size() * sizeof(float));
    std::memcpy(inputs.back().data(), tensor.data(), inputs.back().size());
    values.push_back(std::move(tensor));
  }
  const auto results = program::EvaluateGraph(graph, inputs);
  ASSERT_TRUE(results.ok()) << results.status().message();
  std::vector<float> y(results->at(0).size() / sizeof(float));
  std::memcpy(y.data(), results->at(0).data(), results->at(0).size());
  const auto at = [&](size_t tensor, int64_t place) {
    return static_cast<double>(values[tensor][static_cast<size_t>(place)]);
  };
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t h = 0; h < c.heads; ++h) {
      for (int64_t r = 0; r < c.rows; ++r) {
        std::vector<double> weights;
        double sum = 0;
        for (int64_t t = 0; t < c.keys; ++t) {
          double score = 0;
          for (int64_t d = 0; d < c.depth; ++d)
            score += at(0, Place(c, c.rows, c.depth, b, h, r, d)) * at(1, Place(c, c.keys, c.depth, b, h, t, d));
          score *= 0.5;
          if (!c.mask.empty()) score += at(3, MaskPlace(c.mask, {b, h, r, t}));
          weights.push_back(std::exp(score));
          sum += weights.back();
        }
        for (int64_t d = 0; d < c.value_depth; ++d) {
          double want = 0;
          for (int64_t t = 0; t < c.keys; ++t)
            want += weights[static_cast<size_t>(t)] / sum * at(2, Place(c, c.keys, c.value_depth, b, h, t, d));
          const int64_t place = Place(c, c.rows, c.value_depth, b, h, r, d);
          ASSERT_NEAR(static_cast<double>(y[static_cast<size_t>(place)]), want, 1e-4) << place;
        }
      }
    }
  }
}

TEST(AttentionTest, HeadsOutside) { Check({2, 3, 5, 7, 4, 6, false, {}}); }
TEST(AttentionTest, HeadsInside) { Check({2, 3, 5, 7, 4, 6, true, {}}); }
TEST(AttentionTest, SeveralBandsOfRows) { Check({1, 2, 130, 67, 33, 40, true, {}}); }
TEST(AttentionTest, MaskOfKeys) { Check({2, 3, 5, 9, 4, 4, true, {2, 1, 1, 9}}); }
TEST(AttentionTest, MaskOfRowsAndKeys) { Check({2, 3, 70, 9, 4, 4, true, {70, 9}}); }
TEST(AttentionTest, MaskOfEverything) { Check({2, 3, 5, 9, 4, 4, false, {2, 3, 5, 9}}); }

TEST(AttentionTest, RefusesWhatDoesNotFit) {
  om::Graph graph = MakeGraph({1, 2, 5, 7, 4, 6, false, {}});
  graph.tensors[2].dims[2] = 8;
  EXPECT_EQ(CheckNode(graph, graph.nodes[0]).code(), StatusCode::kInvalidArgument);
  graph = MakeGraph({1, 2, 5, 7, 4, 6, false, {}});
  graph.nodes[0].attributes["k_perm"] = std::vector<int64_t>{0, 1, 1, 3};
  EXPECT_EQ(CheckNode(graph, graph.nodes[0]).code(), StatusCode::kInvalidArgument);
  graph = MakeGraph({1, 2, 5, 7, 4, 6, false, {1, 1, 1, 6}});
  EXPECT_EQ(CheckNode(graph, graph.nodes[0]).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace npustream::kernels
