#include "npu_sim/compiler/quantize/channel_factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/npu_sim/compiler/support/parse_graph.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::IsEmpty;

// Two channels, read by a depthwise convolution of one tap each.
om::Graph Depthwise() {
  return ParseGraph(
      "input x: float32[1,2,4,4]\n"
      "const w0: float32[2,2,1,1] = [1, 2, 3, 4]\n"
      "const w1: float32[2,1,1,1] = [3, 0.5]\n"
      "a: float32[1,2,4,4] = Conv(x, w0)\n"
      "y: float32[1,2,4,4] = Conv(a, w1) {group=2}\n"
      "output y\n");
}

om::TensorId Find(const om::Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].name == name) return static_cast<om::TensorId>(i);
  }
  return om::kNoTensor;
}

// Channels of 0 … 100 and 0 … 1.
ChannelStatistics Unequal() {
  ChannelStatistics statistics;
  std::vector<float> values;
  for (const float reach : {100.0f, 1.0f}) {
    for (int i = 0; i < 16; ++i) values.push_back(reach * static_cast<float>(i) / 15);
  }
  statistics.Add(values, 2, 16);
  return statistics;
}

TEST(ChannelStatistics, AreOfChannels) {
  ChannelStatistics statistics;
  statistics.Add(std::vector<float>{1, 3, -2, 0, 5, 3, -2, 4}, 2, 2);
  EXPECT_EQ(statistics.count, 4);
  EXPECT_EQ(statistics.Mean(0), 3);
  EXPECT_EQ(statistics.Mean(1), 0);
  EXPECT_THAT(statistics.squares, ElementsAre(44, 24));
  EXPECT_THAT(statistics.lows, ElementsAre(0, -2));
  EXPECT_THAT(statistics.highs, ElementsAre(5, 4));
}

// Each of a depthwise convolution's channels has a scale of its own, so that nothing speaks against equal ranges.
TEST(ChannelFactors, MakeRangesEqualForADepthwiseReader) {
  const om::Graph graph = Depthwise();
  const std::vector<float> factors = ChooseChannelFactors(graph, Uses(graph), Find(graph, "a"), Unequal());
  ASSERT_EQ(factors.size(), 2u);
  EXPECT_NEAR(factors[1] / factors[0], 100, 1e-3);
}

TEST(ChannelFactors, AreLeftOutWhereRangesAreEqual) {
  const om::Graph graph = Depthwise();
  ChannelStatistics statistics;
  statistics.Add(std::vector<float>{0, 1, 2, 3, 3, 2, 1, 0}, 2, 4);
  EXPECT_THAT(ChooseChannelFactors(graph, Uses(graph), Find(graph, "a"), statistics), IsEmpty());
}

TEST(ChannelFactors, DivideWeightsByTheirSourceChannel) {
  const om::Graph graph = Depthwise();
  EXPECT_THAT(DividedWeights(graph, graph.nodes[0], std::vector<float>{2, 4}),
              ElementsAre(FloatEq(0.5f), FloatEq(0.5f), FloatEq(1.5f), FloatEq(1)));
  EXPECT_THAT(DividedWeights(graph, graph.nodes[1], std::vector<float>{2, 4}), ElementsAre(FloatEq(1.5f), FloatEq(0.125f)));
}

TEST(ChannelFactors, NeedConvolutionsOnBothSides) {
  om::Graph graph = Depthwise();
  EXPECT_TRUE(TakesChannelFactors(graph, Uses(graph), Find(graph, "a")));
  EXPECT_FALSE(TakesChannelFactors(graph, Uses(graph), Find(graph, "x")));
  EXPECT_FALSE(TakesChannelFactors(graph, Uses(graph), Find(graph, "y")));
  graph.outputs.push_back(Find(graph, "a"));
  EXPECT_FALSE(TakesChannelFactors(graph, Uses(graph), Find(graph, "a")));
}

}  // namespace
}  // namespace npustream::compiler
