#include "npu_sim/program/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::program {
namespace {

using om::Attributes;
using om::Dims;
using om::GraphBuilder;
using om::TensorId;
using Ints = std::vector<int64_t>;

std::vector<std::string> Operators(const om::NativePlan& plan) {
  std::vector<std::string> names;
  for (const om::NativeStep& step : plan.steps) names.push_back(step.op);
  return names;
}

// A convolution 1x1 with random weights: something that makes blocked tensors.
TensorId Pointwise(GraphBuilder& b, TensorId x, Dims out, int64_t in_channels, unsigned seed) {
  return b.Node("Conv", {x, b.Random({out[1], in_channels, 1, 1}, seed)}, out);
}

std::vector<float> Evaluate(const om::Graph& graph, size_t output = 0) {
  std::vector<om::Bytes> inputs;
  for (const TensorId id : graph.inputs)
    inputs.push_back(
        om::ToBytes(GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(graph.tensors[id].dims)), 11)));
  const auto result = EvaluateGraph(graph, inputs);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? om::FromBytes<float>((*result)[output]) : std::vector<float>();
}

TEST(LoweringTest, ChannelShuffleIsOneStep) {
  // ShuffleNet's unit: join, shuffle of two groups, and the halves go different ways.
  GraphBuilder b;
  const int64_t c = 58;
  const TensorId x = b.Input({1, 16, 6, 6});
  const TensorId left = Pointwise(b, x, {1, c, 6, 6}, 16, 1), right = Pointwise(b, x, {1, c, 6, 6}, 16, 2);
  const TensorId joined = b.Node("Concat", {left, right}, {1, 2 * c, 6, 6}, {{"axis", int64_t{1}}});
  const TensorId split = b.Node("Reshape", {joined}, {1, 2, c, 6, 6});
  const TensorId turned = b.Node("Transpose", {split}, {1, c, 2, 6, 6}, {{"perm", Ints{0, 2, 1, 3, 4}}});
  const TensorId shuffled = b.Node("Reshape", {turned}, {1, 2 * c, 6, 6});
  const auto halves = b.Nodes("Split", {shuffled}, {{1, c, 6, 6}, {1, c, 6, 6}}, {{"axis", int64_t{1}}});
  b.Output(b.Node("Relu", {halves[0]}, {1, c, 6, 6})).Output(halves[1]).Output(left).Output(right);
  const auto plan = Lower(b.graph());
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto ops = Operators(*plan);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Planes"), 2) << "one gather per half";
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Transpose") + std::count(ops.begin(), ops.end(), "Concat"), 0);

  const auto a = Evaluate(b.graph(), 0), d = Evaluate(b.graph(), 1), l = Evaluate(b.graph(), 2),
             r = Evaluate(b.graph(), 3);
  for (int64_t k = 0; k < 2 * c; ++k) {
    for (int64_t p = 0; p < 36; ++p) {
      const float expected = (k % 2 == 0 ? l : r)[static_cast<size_t>(k / 2 * 36 + p)];
      const float got = k < c ? a[static_cast<size_t>(k * 36 + p)] : d[static_cast<size_t>((k - c) * 36 + p)];
      ASSERT_EQ(got, k < c ? std::max(expected, 0.0f) : expected);
    }
  }
}

TEST(LoweringTest, AlignedJoinsAreFree) {
  GraphBuilder b;
  const TensorId x = b.Input({1, 16, 5, 5});
  const TensorId left = Pointwise(b, x, {1, 32, 5, 5}, 16, 1), right = Pointwise(b, x, {1, 16, 5, 5}, 16, 2);
  const TensorId joined = b.Node("Concat", {left, right}, {1, 48, 5, 5}, {{"axis", int64_t{1}}});
  const TensorId end = Pointwise(b, joined, {1, 16, 5, 5}, 48, 3);
  b.Output(end);
  const auto plan = Lower(b.graph());
  ASSERT_TRUE(plan.ok());
  const auto ops = Operators(*plan);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Planes"), 0);
  // Reorders only at the model's edges.
  EXPECT_LE(std::count(ops.begin(), ops.end(), "Reorder"), 2);
}

// A picture is quantised straight into the layout that the first convolution reads; what also goes elsewhere is not.
TEST(LoweringTest, PicturesAreQuantizedIntoPixels) {
  std::vector<int8_t> weights(20 * 3 * 9);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(i * 37 % 255 - 127);
  const auto run = [&](bool output_too) {
    GraphBuilder b;
    const om::Quantization quantization{{0.01f}, {93}};
    const TensorId x = b.Input({2, 3, 37, 31});
    const TensorId bytes = b.Quantized(b.Node("Quantize", {x}, {2, 3, 37, 31}, {}, om::DataType::kUInt8), quantization);
    b.Output(b.Node("Conv", {bytes, b.Int8s({20, 3, 3, 3}, weights, {{0.003f}, {0}})}, {2, 20, 35, 29}));
    if (output_too) b.Output(b.Node("Dequantize", {bytes}, {2, 3, 37, 31}));
    const auto plan = Lower(b.graph());
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    const auto ops = Operators(*plan);
    EXPECT_EQ(std::count(ops.begin(), ops.end(), "Reorder"), output_too ? 2 : 1);  // of the result, of the picture
    return Evaluate(b.graph());
  };
  const auto once = run(false), both = run(true);
  EXPECT_EQ(once, both);
  EXPECT_NE(once.front(), once.back());
}

// Quantised channels become planes again, in whatever number they are.
// A convolution writes blocks of 16 or 8 channels, and one that reads three channels wants blocks of four.
TEST(LoweringTest, BlocksOfOneSizeBecomeThoseOfAnother) {
  const auto quantization = om::Quantization{{0.5f}, {0}};
  const std::vector<int8_t> identity = {100, 0, 0, 0, 100, 0, 0, 0, 100};
  GraphBuilder b;
  const auto conv = [&](TensorId x) {
    const TensorId w = b.Int8s({3, 3, 1, 1}, identity, {{0.01f}, {0}});
    return b.Quantized(b.Node("Conv", {x, w}, {1, 3, 4, 4}, {}, om::DataType::kUInt8), quantization);
  };
  const TensorId x = b.Input({1, 3, 4, 4});
  const TensorId bytes = b.Quantized(b.Node("Quantize", {x}, {1, 3, 4, 4}, {}, om::DataType::kUInt8), quantization);
  b.Output(conv(conv(bytes)));
  std::vector<float> values(48);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5f * static_cast<float>(i);
  const auto input = std::as_bytes(std::span(values));
  const auto result = EvaluateGraph(b.graph(), {om::Bytes(input.begin(), input.end())});
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(static_cast<size_t>((*result)[0][i]), i);
}

TEST(LoweringTest, BytesBecomePlanes) {
  for (const int64_t channels : {1, 3, 16, 21, 40}) {
    for (const Dims& size : {Dims{3, 5}, Dims{9, 7}, Dims{16, 4}}) {
      GraphBuilder b;
      const Dims dims = {2, channels, size[0], size[1]};
      const om::Quantization quantization{{1}, {0}};
      const TensorId x = b.Quantized(b.Input(dims, om::DataType::kUInt8), quantization);
      std::vector<int8_t> ones(static_cast<size_t>(channels), 1);
      const TensorId same = b.Node("Conv", {x, b.Int8s({channels, 1, 1, 1}, ones, {{1}, {0}})}, dims,
                                   {{"group", channels}}, om::DataType::kUInt8);
      b.Output(b.Quantized(same, quantization));
      om::Bytes input(static_cast<size_t>(om::ElementCount(dims)));
      for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i * 73 >> 3);
      const auto result = EvaluateGraph(b.graph(), {input});
      ASSERT_TRUE(result.ok()) << result.status().message();
      EXPECT_EQ((*result)[0], input) << channels;
    }
  }
}

TEST(LoweringTest, BuffersAreReusedAndResultsComputedInPlace) {
  GraphBuilder b;
  TensorId x = Pointwise(b, b.Input({1, 16, 40, 40}), {1, 16, 40, 40}, 16, 1);
  for (unsigned i = 0; i < 6; ++i) {
    x = b.Node("Sigmoid", {x}, {1, 16, 40, 40});
    x = Pointwise(b, x, {1, 16, 40, 40}, 16, i + 2);
  }
  b.Output(x);
  const auto plan = Lower(b.graph());
  ASSERT_TRUE(plan.ok());
  const uint64_t tensor = 16 * 40 * 40 * 4;
  EXPECT_LE(plan->arena_bytes, 3 * tensor);
  EXPECT_GE(plan->arena_bytes, plan->arena_lower_bound);
  EXPECT_GE(plan->arena_lower_bound, 2 * tensor);
}

TEST(LoweringTest, ResidualThatIsStillNeededIsNotOverwritten) {
  GraphBuilder b;
  const TensorId x = b.Input({1, 16, 4, 4});
  const TensorId y = Pointwise(b, x, {1, 16, 4, 4}, 16, 1);
  const TensorId z = b.Node("Conv", {y, b.Random({16, 16, 1, 1}, 2), om::kNoTensor, y}, {1, 16, 4, 4});
  const TensorId sum = b.Node("Sub", {z, y}, {1, 16, 4, 4});
  const TensorId alone = Pointwise(b, y, {1, 16, 4, 4}, 16, 2);
  b.Output(sum).Output(alone);
  const auto with = Evaluate(b.graph(), 0), without = Evaluate(b.graph(), 1);
  for (size_t i = 0; i < with.size(); ++i) ASSERT_NEAR(with[i], without[i], 1e-5);
}

TEST(LoweringTest, ViewsOfInputsConstantsAndOutputsAreCopiedToOutputs) {
  GraphBuilder b;
  const TensorId x = b.Input({1, 4, 3});
  const TensorId flat = b.Node("Reshape", {x}, {12});
  const TensorId constant = b.Floats({2}, {5, 6});
  const TensorId y = b.Node("Relu", {x}, {1, 4, 3});
  b.Output(flat).Output(x).Output(constant).Output(y).Output(y).Output(b.Node("Reshape", {y}, {3, 4}));
  const auto in = GraphBuilder::RandomFloats(12, 11);
  EXPECT_EQ(Evaluate(b.graph(), 0), in);
  EXPECT_EQ(Evaluate(b.graph(), 1), in);
  EXPECT_EQ(Evaluate(b.graph(), 2), (std::vector<float>{5, 6}));
  EXPECT_EQ(Evaluate(b.graph(), 3), Evaluate(b.graph(), 4));
  EXPECT_EQ(Evaluate(b.graph(), 3), Evaluate(b.graph(), 5));
}

TEST(LoweringTest, PaddingChannelsNeverLeak) {
  // Sigmoid makes ½ of the zeros that fill up a group; the mean over channels must not see them.
  GraphBuilder b;
  const TensorId x = b.Input({1, 16, 4, 4});
  const TensorId y = b.Node("Sigmoid", {Pointwise(b, x, {1, 5, 4, 4}, 16, 1)}, {1, 5, 4, 4});
  const TensorId wide = b.Node("Conv", {y, b.Floats({1, 5, 1, 1}, {1, 1, 1, 1, 1})}, {1, 1, 4, 4});
  const TensorId sum = b.Node("ReduceSum", {y}, {1, 1, 4, 4}, {{"axes", Ints{1}}});
  b.Output(wide).Output(sum);
  const auto a = Evaluate(b.graph(), 0), c = Evaluate(b.graph(), 1);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], c[i], 1e-5);
}

TEST(LoweringTest, NamesEveryNodeThatCannotRun) {
  GraphBuilder b;
  const TensorId x = b.Input({1, 4});
  const TensorId y = b.Node("Einsum", {x}, {1, 4});
  b.Output(b.Node("Unique", {y}, {1, 4}));
  const auto plan = Lower(b.graph());
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(plan.status().message(),
              ::testing::AllOf(::testing::HasSubstr("Einsum_0"), ::testing::HasSubstr("Unique_1")));
}

TEST(EvaluateNodeTest, FoldsConstants) {
  GraphBuilder b;
  const TensorId y =
      b.Node("Gather", {b.Ints({4}, {10, 20, 30, 40}), b.Ints({2}, {3, -4})}, {2}, {}, om::DataType::kInt64);
  const auto result = EvaluateNode(b.graph(), b.graph().nodes[0]);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(om::FromBytes<int64_t>((*result)[0]), (std::vector<int64_t>{40, 10}));
  static_cast<void>(y);

  GraphBuilder open;
  open.Node("Relu", {open.Input({4})}, {4});
  EXPECT_FALSE(EvaluateNode(open.graph(), open.graph().nodes[0]).ok());
}

}  // namespace
}  // namespace npustream::program
