// Convolutions of many shapes against a plain loop, on whatever instruction set this process uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "npu_sim/program/lowering.h"
#include "tests/npu_sim/support/bf16.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using testing_support::RoundedToBf16;

using om::Dims;

struct Case {
  int64_t n, ic, ih, iw, oc, groups, kh, kw, stride, dilation, top, left, bottom, right;
  std::string activation;
  bool bias, residual;

  int64_t oh() const { return (ih + top + bottom - (kh - 1) * dilation - 1) / stride + 1; }
  int64_t ow() const { return (iw + left + right - (kw - 1) * dilation - 1) / stride + 1; }
};

double Activate(const std::string& name, double x) {
  if (name == "Relu") return std::max(x, 0.0);
  if (name == "Silu") return x / (1 + std::exp(-x));
  if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "LeakyRelu") return x < 0 ? 0.1 * x : x;
  return x;
}

std::vector<float> Reference(const Case& c, const std::vector<float>& x, const std::vector<float>& w,
                             const std::vector<float>& b, const std::vector<float>& r) {
  const int64_t icg = c.ic / c.groups, ocg = c.oc / c.groups;
  std::vector<float> y;
  for (int64_t n = 0; n < c.n; ++n) {
    for (int64_t o = 0; o < c.oc; ++o) {
      for (int64_t oh = 0; oh < c.oh(); ++oh) {
        for (int64_t ow = 0; ow < c.ow(); ++ow) {
          double sum = c.bias ? b[o] : 0;
          for (int64_t i = 0; i < icg; ++i) {
            for (int64_t kh = 0; kh < c.kh; ++kh) {
              for (int64_t kw = 0; kw < c.kw; ++kw) {
                const int64_t h = oh * c.stride - c.top + kh * c.dilation, v = ow * c.stride - c.left + kw * c.dilation;
                if (h < 0 || h >= c.ih || v < 0 || v >= c.iw) continue;
                sum += static_cast<double>(x[((n * c.ic + o / ocg * icg + i) * c.ih + h) * c.iw + v]) *
                       w[((o * icg + i) * c.kh + kh) * c.kw + kw];
              }
            }
          }
          if (c.residual) sum += r[y.size()];
          y.push_back(static_cast<float>(Activate(c.activation, sum)));
        }
      }
    }
  }
  return y;
}

// The node between two channel-preserving neighbours, so that its blocked layouts are used on both sides.
void Check(const Case& c, bool blocked_source, bool bf16 = false) {
  SCOPED_TRACE(::testing::Message() << "ic " << c.ic << " oc " << c.oc << " groups " << c.groups << " kernel " << c.kh
                                    << "x" << c.kw << " stride " << c.stride << " dilation " << c.dilation << " size "
                                    << c.ih << "x" << c.iw << " pads " << c.top << c.left << c.bottom << c.right << " "
                                    << c.activation << (blocked_source ? " blocked" : " plain"));
  om::GraphBuilder b;
  const Dims in = {c.n, c.ic, c.ih, c.iw}, out = {c.n, c.oc, c.oh(), c.ow()},
             weights = {c.oc, c.ic / c.groups, c.kh, c.kw};
  const auto x = om::GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(in)), 1);
  const auto w = om::GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(weights)), 2);
  const auto bias = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.oc), 3);
  const auto residual = om::GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(out)), 4);
  om::TensorId source = b.Input(in);
  // A pooling of single pixels changes nothing but the layout.
  if (blocked_source) source = b.Node("MaxPool", {source}, in, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
  std::vector<om::TensorId> inputs = {source, b.Floats(weights, w), c.bias ? b.Floats({c.oc}, bias) : om::kNoTensor};
  if (c.residual) inputs.push_back(b.Input(out));
  om::Attributes attributes = {{"strides", std::vector<int64_t>{c.stride, c.stride}},
                               {"dilations", std::vector<int64_t>{c.dilation, c.dilation}},
                               {"group", c.groups},
                               {"pads", std::vector<int64_t>{c.top, c.left, c.bottom, c.right}}};
  if (!c.activation.empty()) attributes["activation"] = c.activation;
  if (c.activation == "LeakyRelu") attributes["activation_alpha"] = 0.1f;
  if (bf16) attributes["compute_type"] = std::string("bfloat16");
  b.Output(b.Node("Conv", inputs, out, attributes));
  std::vector<om::Bytes> contents = {om::ToBytes(x)};
  if (c.residual) contents.push_back(om::ToBytes(residual));
  const auto got = program::EvaluateGraph(b.graph(), contents);
  ASSERT_TRUE(got.ok()) << got.status().message();
  const auto result = om::FromBytes<float>((*got)[0]);
  const auto expected = Reference(c, x, w, bias, residual);
  ASSERT_EQ(result.size(), expected.size());
  const double scale = std::sqrt(static_cast<double>(om::ElementCount(weights) / c.oc));
  // Winograd's method adds and subtracts multiples of its operands first.
  const bool transforms = c.kh == 3 && c.kw == 3 && c.stride == 1 && c.dilation == 1 && c.groups == 1;
  const double error = bf16 ? 0x1p-7 : transforms ? 1e-5 : 2e-6;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(result[i], expected[i], error * scale + 2e-6 * std::fabs(expected[i])) << "element " << i;
  if (!bf16 || RunningIsa() < Isa::kAmx || c.groups > 1) return;
  // Results are those of rounded operands, not of the given ones.
  const auto plan = program::Lower(b.graph());
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(std::any_of(plan->steps.begin(), plan->steps.end(),
                          [](const om::NativeStep& step) { return step.implementation == "bfloat16 amx"; }));
}

// Convolutions in a row: what lies between them is stored as bfloat16 where they compute so, whether dense or depthwise,
// and a residual too.
TEST(ConvTest, Bf16BetweenConvolutions) {
  const Case cases[] = {
      // n ic ih iw oc g kh kw s d pads activation bias residual
      {2, 40, 37, 21, 72, 1, 1, 1, 1, 1, 0, 0, 0, 0, "Silu", true, false},
      {2, 72, 37, 21, 72, 72, 3, 3, 1, 1, 1, 1, 1, 1, "Relu", true, false},
      {2, 72, 37, 21, 72, 72, 5, 5, 1, 1, 2, 2, 2, 2, "Sigmoid", true, false},
      {2, 72, 37, 21, 72, 1, 1, 1, 1, 1, 0, 0, 0, 0, "", true, true},
      {2, 72, 37, 21, 72, 72, 3, 3, 2, 1, 1, 1, 1, 1, "", false, false},
      {2, 72, 19, 11, 72, 72, 5, 5, 2, 1, 2, 2, 2, 2, "Silu", true, false},
      {2, 72, 10, 6, 72, 72, 3, 3, 1, 2, 2, 2, 2, 2, "", false, false},
      {2, 72, 10, 6, 16, 1, 3, 3, 1, 1, 1, 1, 1, 1, "Sigmoid", true, false},
  };
  const bool amx = RunningIsa() == Isa::kAmx;
  const auto stored = [&](std::vector<float> values) { return amx ? RoundedToBf16(std::move(values)) : values; };
  om::GraphBuilder b;
  const auto input = om::GraphBuilder::RandomFloats(2 * 40 * 37 * 21, 1);
  std::vector<float> expected = stored(input), residual;
  om::TensorId x = b.Input({2, 40, 37, 21}), first = om::kNoTensor;
  unsigned seed = 1;
  for (const Case& c : cases) {
    const Dims weights = {c.oc, c.ic / c.groups, c.kh, c.kw};
    // Results of about ±1, whatever the number of products.
    auto w = om::GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(weights)), ++seed);
    const double size = 2 / std::sqrt(static_cast<double>(om::ElementCount(weights) / c.oc));
    for (float& value : w) value *= static_cast<float>(size);
    const auto bias = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.oc), ++seed);
    std::vector<om::TensorId> inputs = {x, b.Floats(weights, w), c.bias ? b.Floats({c.oc}, bias) : om::kNoTensor};
    if (c.residual) inputs.push_back(first);
    om::Attributes attributes = {{"strides", std::vector<int64_t>{c.stride, c.stride}},
                                 {"dilations", std::vector<int64_t>{c.dilation, c.dilation}},
                                 {"group", c.groups},
                                 {"pads", std::vector<int64_t>{c.top, c.left, c.bottom, c.right}},
                                 {"compute_type", std::string("bfloat16")}};
    if (!c.activation.empty()) attributes["activation"] = c.activation;
    x = b.Node("Conv", inputs, {c.n, c.oc, c.oh(), c.ow()}, attributes);
    expected = Reference(c, expected, c.groups == 1 ? stored(w) : w, bias, residual);
    if (&c != std::end(cases) - 1) expected = stored(expected);
    if (first == om::kNoTensor) first = x, residual = expected;
  }
  const auto plan = program::Lower(b.Output(x).graph());
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto between = std::count_if(plan->values.begin(), plan->values.end(), [](const om::NativeValue& value) {
    return value.type == om::DataType::kBFloat16;
  });
  EXPECT_EQ(between, amx ? static_cast<int64_t>(std::size(cases)) - 1 : 0);
  const auto got = program::EvaluateGraph(b.graph(), {om::ToBytes(input)});
  ASSERT_TRUE(got.ok()) << got.status().message();
  const auto result = om::FromBytes<float>((*got)[0]);
  ASSERT_EQ(result.size(), expected.size());
  // A sum in another order may be rounded to a neighbour, once for each convolution.
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(result[i], expected[i], amx ? 0x1p-6 : 1e-4) << i;
}

// Sums, joins of whole groups and the nearest pixels of what convolutions give stay bfloat16 on their way to others; a
// join that would move single channels does not.
TEST(ConvTest, Bf16ThroughSumsJoinsAndNearestPixels) {
  for (const int64_t channels : {32, 40}) {
    const auto build = [&](bool bf16, om::GraphBuilder& b) {
      const auto marked = [&](om::Attributes attributes) {
        if (bf16) attributes["compute_type"] = std::string("bfloat16");
        return attributes;
      };
      const Dims half = {1, channels, 9, 7}, joined = {1, 2 * channels, 9, 7}, full = {1, 2 * channels, 18, 14};
      const om::TensorId x = b.Input({1, 24, 9, 7});
      const auto pointwise = [&](om::TensorId from, int64_t ic, const Dims& out, unsigned seed) {
        return b.Node("Conv", {from, b.Random({out[1], ic, 1, 1}, seed), b.Random({out[1]}, seed + 1)}, out,
                      marked({{"activation", std::string("Silu")}}));
      };
      const om::TensorId left = pointwise(x, 24, half, 1), right = pointwise(x, 24, half, 3);
      const om::TensorId sum = b.Node("Add", {left, right}, half, marked({{"activation", std::string("Sigmoid")}}));
      const om::TensorId both = b.Node("Concat", {sum, right}, joined, {{"axis", int64_t{1}}});
      const om::TensorId large = b.Node("Resize", {both}, full,
                                        {{"scales", std::vector<float>{1, 1, 2, 2}},
                                         {"mode", std::string("nearest")},
                                         {"coordinate_transformation_mode", std::string("asymmetric")},
                                         {"nearest_mode", std::string("floor")}});
      b.Output(pointwise(large, 2 * channels, {1, 20, 18, 14}, 5)).Output(b.Node("Relu", {left}, half));
    };
    om::GraphBuilder real, bf16;
    build(false, real);
    build(true, bf16);
    const auto plan = program::Lower(bf16.graph());
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto count = std::count_if(plan->values.begin(), plan->values.end(), [](const om::NativeValue& value) {
      return value.type == om::DataType::kBFloat16;
    });
    // `left` is also read by an operator of real numbers.
    EXPECT_EQ(count, RunningIsa() == Isa::kAmx && channels % 16 == 0 ? 4 : 0);
    const std::vector<om::Bytes> input = {om::ToBytes(om::GraphBuilder::RandomFloats(24 * 9 * 7, 9))};
    const auto expected = program::EvaluateGraph(real.graph(), input), got = program::EvaluateGraph(bf16.graph(), input);
    ASSERT_TRUE(expected.ok() && got.ok()) << got.status().message();
    const auto a = om::FromBytes<float>((*expected)[0]), b = om::FromBytes<float>((*got)[0]);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 0.1) << i;
  }
}

TEST(ConvTest, ManyShapes) {
  const Case cases[] = {
      // n ic ih iw oc g kh kw s d pads activation bias residual
      {1, 16, 13, 13, 16, 1, 1, 1, 1, 1, 0, 0, 0, 0, "", true, false},
      {1, 64, 26, 26, 80, 1, 1, 1, 1, 1, 0, 0, 0, 0, "Sigmoid", true, false},
      {2, 58, 9, 7, 58, 1, 1, 1, 1, 1, 0, 0, 0, 0, "Relu", true, false},
      {1, 300, 5, 5, 33, 1, 1, 1, 1, 1, 0, 0, 0, 0, "Silu", false, true},
      {1, 32, 14, 14, 48, 1, 1, 1, 2, 1, 0, 0, 0, 0, "", true, false},
      {1, 32, 15, 14, 64, 1, 3, 3, 1, 1, 1, 1, 1, 1, "Silu", true, true},
      {1, 24, 15, 17, 24, 1, 3, 3, 2, 1, 1, 1, 1, 1, "LeakyRelu", true, false},
      {1, 3, 33, 31, 16, 1, 3, 3, 2, 1, 1, 1, 1, 1, "Silu", true, false},
      {1, 3, 40, 40, 64, 1, 7, 7, 2, 1, 3, 3, 3, 3, "Relu", true, false},
      {1, 3, 32, 32, 96, 1, 11, 11, 4, 1, 2, 2, 2, 2, "Relu", true, false},
      {2, 12, 20, 20, 16, 1, 3, 3, 1, 1, 1, 1, 1, 1, "", true, false},
      {1, 40, 12, 12, 40, 1, 3, 3, 1, 2, 2, 2, 2, 2, "Relu", true, false},
      {1, 20, 11, 13, 20, 1, 5, 3, 1, 1, 0, 1, 2, 0, "", true, false},
      {1, 16, 11, 11, 8, 1, 3, 3, 3, 1, 0, 0, 0, 0, "", false, false},
      {1, 128, 7, 7, 128, 1, 3, 3, 1, 1, 1, 1, 1, 1, "Relu", true, true},
      {1, 32, 20, 20, 32, 32, 3, 3, 1, 1, 1, 1, 1, 1, "Silu", true, false},
      {2, 58, 21, 19, 58, 58, 3, 3, 2, 1, 1, 1, 1, 1, "Relu", true, false},
      {1, 24, 20, 20, 24, 24, 5, 5, 1, 1, 2, 2, 2, 2, "Sigmoid", true, false},
      {1, 16, 14, 14, 16, 16, 5, 5, 2, 1, 2, 2, 2, 2, "", true, true},
      {1, 16, 9, 9, 16, 16, 3, 3, 1, 2, 2, 2, 2, 2, "", false, false},
      {1, 16, 3, 2, 16, 16, 7, 7, 1, 1, 3, 3, 3, 3, "", true, false},
      {1, 64, 10, 10, 64, 4, 3, 3, 1, 1, 1, 1, 1, 1, "Relu", true, false},
      {1, 30, 10, 10, 60, 3, 3, 3, 1, 1, 1, 1, 1, 1, "Silu", true, false},
      {1, 16, 10, 10, 32, 16, 3, 3, 1, 1, 1, 1, 1, 1, "", true, false},
      {1, 1, 28, 28, 8, 1, 5, 5, 1, 1, 2, 2, 2, 2, "Relu", true, false},
      {1, 17, 1, 40, 5, 1, 1, 3, 1, 1, 0, 1, 0, 1, "", true, false},
      // by Winograd's method, with either size of square
      {1, 64, 30, 29, 48, 1, 3, 3, 1, 1, 1, 1, 1, 1, "Relu", true, true},
      {2, 40, 14, 14, 64, 1, 3, 3, 1, 1, 0, 1, 1, 0, "Silu", true, false},
      {1, 16, 57, 41, 32, 1, 3, 3, 1, 1, 0, 0, 0, 0, "", false, false},
      {1, 36, 50, 38, 20, 1, 3, 3, 1, 1, 2, 2, 2, 2, "Sigmoid", true, false},
      // few channels
      {2, 3, 20, 37, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1, "Sigmoid", true, true},
      {1, 5, 9, 150, 8, 1, 5, 3, 1, 2, 4, 2, 4, 2, "Relu", true, false},
      {1, 3, 33, 31, 4, 1, 1, 1, 1, 1, 0, 0, 0, 0, "", false, false},
      {1, 30, 20, 16, 2, 1, 3, 3, 1, 1, 0, 3, 1, 0, "", true, false},
      {1, 2, 5, 100, 1, 1, 2, 4, 1, 1, 0, 0, 1, 2, "LeakyRelu", true, true},
      // groups that fill blocks together only
      {1, 128, 12, 12, 128, 32, 3, 3, 1, 1, 1, 1, 1, 1, "Relu", true, true},
      {2, 64, 11, 10, 64, 8, 3, 3, 2, 1, 1, 1, 1, 1, "Silu", true, false},
      {1, 32, 10, 10, 96, 16, 1, 1, 1, 1, 0, 0, 0, 0, "", true, false},
  };
  for (const Case& c : cases) {
    Check(c, false);
    Check(c, true);
    Check(c, false, true);
    Check(c, true, true);
  }
}

TEST(ConvTest, NoConvolutionRunsOnAReferenceImplementation) {
  om::GraphBuilder b;
  const om::TensorId x = b.Input({1, 3, 32, 32});
  const om::TensorId y =
      b.Node("Conv", {x, b.Random({16, 3, 3, 3}, 1)}, {1, 16, 30, 30}, {{"pads", std::vector<int64_t>{0, 0, 0, 0}}});
  b.Output(y);
  const auto plan = program::Lower(b.graph());
  ASSERT_TRUE(plan.ok());
  for (const om::NativeStep& step : plan->steps)
    EXPECT_EQ(step.implementation.find("ref"), std::string::npos) << step.implementation;
}

// What a convolution of these sizes, 3x3 with a pixel around, runs on; its source is blocked if it has many channels.
std::string ImplementationOf(int64_t ic, int64_t oc, int64_t size) {
  om::GraphBuilder b;
  const Dims in = {1, ic, size, size};
  om::TensorId x = b.Input(in);
  if (ic >= 16) x = b.Node("MaxPool", {x}, in, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
  b.Output(b.Node("Conv", {x, b.Random({oc, ic, 3, 3}, 1)}, {1, oc, size, size},
                  {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  const auto plan = program::Lower(b.graph());
  EXPECT_TRUE(plan.ok());
  for (const om::NativeStep& step : plan->steps) {
    if (step.op == "Conv") return step.implementation;
  }
  return "";
}

TEST(ConvTest, EachMethodIsUsedWhereItPays) {
  if (RunningIsa() == Isa::kBaseline) GTEST_SKIP() << "this CPU has no vectors of ours";
  EXPECT_THAT(ImplementationOf(64, 64, 56), testing::StartsWith("winograd"));
  EXPECT_THAT(ImplementationOf(512, 512, 7), testing::StartsWith("blocked"));
  EXPECT_THAT(ImplementationOf(3, 3, 200), testing::StartsWith("planes"));
  EXPECT_THAT(ImplementationOf(3, 32, 200), testing::StartsWith("blocked"));
}

TEST(ConvTest, InconsistentShapesAreRefused) {
  om::GraphBuilder b;
  const om::TensorId x = b.Input({1, 3, 32, 32});
  b.Output(b.Node("Conv", {x, b.Random({16, 4, 3, 3}, 1)}, {1, 16, 30, 30}));
  const auto plan = program::Lower(b.graph());
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("Conv_0"), std::string::npos);
}

}  // namespace
}  // namespace npustream::kernels
