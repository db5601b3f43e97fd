// Convolutions of quantised tensors against a plain loop over the real numbers that the integers stand for, on whatever
// instruction set this process uses.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "npu_sim/program/lowering.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using om::Dims;
using om::Quantization;

struct Case {
  int64_t n, ic, ih, iw, oc, groups, kh, kw, stride, dilation, pad;
  std::string activation;
  bool bias, residual;

  int64_t oh() const { return (ih + 2 * pad - (kh - 1) * dilation - 1) / stride + 1; }
  int64_t ow() const { return (iw + 2 * pad - (kw - 1) * dilation - 1) / stride + 1; }
};

constexpr float kAlpha = 0.1f, kClipLow = -0.5f, kClipHigh = 1.5f;

double Activate(const std::string& name, double x) {
  if (name == "Relu") return std::max(x, 0.0);
  if (name == "Silu") return x / (1 + std::exp(-x));
  if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "HardSwish") return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0);
  if (name == "LeakyRelu") return x < 0 ? static_cast<double>(kAlpha) * x : x;
  if (name == "Clip") return std::min(std::max(x, static_cast<double>(kClipLow)), static_cast<double>(kClipHigh));
  return x;
}

template <typename T>
std::vector<T> RandomIntegers(size_t count, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
  return values;
}

struct Operands {
  std::vector<uint8_t> x, residual;
  std::vector<int8_t> w;
  std::vector<float> bias, w_scales;
  float x_scale = 0.02f, residual_scale = 0.013f;
  int32_t x_zero = 119, residual_zero = 7;

  explicit Operands(const Case& c)
      : x(RandomIntegers<uint8_t>(static_cast<size_t>(c.n * c.ic * c.ih * c.iw), 0, 255, 1)),
        residual(RandomIntegers<uint8_t>(static_cast<size_t>(c.n * c.oc * c.oh() * c.ow()), 0, 255, 2)),
        w(RandomIntegers<int8_t>(static_cast<size_t>(c.oc * c.ic / c.groups * c.kh * c.kw), -128, 127, 3)),
        bias(om::GraphBuilder::RandomFloats(static_cast<size_t>(c.oc), 4)),
        w_scales(om::GraphBuilder::RandomFloats(static_cast<size_t>(c.oc), 5)) {
    // Results of about ±2, whatever the number of products.
    const double size = 2 / (1.5 * 70 * std::sqrt(static_cast<double>(c.ic / c.groups * c.kh * c.kw)));
    for (float& scale : w_scales) scale = static_cast<float>(size) * (0.6f + std::fabs(scale));
  }
};

std::vector<double> Reference(const Case& c, const Operands& o) {
  const int64_t icg = c.ic / c.groups, ocg = c.oc / c.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < c.n; ++n) {
    for (int64_t k = 0; k < c.oc; ++k) {
      for (int64_t oh = 0; oh < c.oh(); ++oh) {
        for (int64_t ow = 0; ow < c.ow(); ++ow) {
          int64_t sum = 0;
          for (int64_t i = 0; i < icg; ++i) {
            for (int64_t kh = 0; kh < c.kh; ++kh) {
              for (int64_t kw = 0; kw < c.kw; ++kw) {
                const int64_t h = oh * c.stride - c.pad + kh * c.dilation, v = ow * c.stride - c.pad + kw * c.dilation;
                if (h < 0 || h >= c.ih || v < 0 || v >= c.iw) continue;
                const int64_t x = o.x[static_cast<size_t>(((n * c.ic + k / ocg * icg + i) * c.ih + h) * c.iw + v)];
                sum += (x - o.x_zero) * o.w[static_cast<size_t>(((k * icg + i) * c.kh + kh) * c.kw + kw)];
              }
            }
          }
          double real = static_cast<double>(sum) * o.x_scale * o.w_scales[static_cast<size_t>(k)];
          if (c.bias) real += o.bias[static_cast<size_t>(k)];
          if (c.residual) real += (o.residual[y.size()] - o.residual_zero) * static_cast<double>(o.residual_scale);
          y.push_back(Activate(c.activation, real));
        }
      }
    }
  }
  return y;
}

// A tensor of bytes that is added to what the convolution gives, and the sum's quantisation.
struct Addend {
  std::vector<uint8_t> bytes;
  Quantization quantization, sum;
  int64_t low, high;
  bool first;
};

// The graph with its result quantised by (scale, zero), or real when scale is 0, and what it computes.
om::Bytes Run(const Case& c, const Operands& o, float y_scale, int32_t y_zero, const Addend* addend = nullptr,
              const std::vector<float>& factors = {}) {
  om::GraphBuilder b;
  const Dims out = {c.n, c.oc, c.oh(), c.ow()};
  const om::TensorId x = b.Quantized(b.Input({c.n, c.ic, c.ih, c.iw}, om::DataType::kUInt8), {{o.x_scale}, {o.x_zero}});
  const om::TensorId w = b.Int8s({c.oc, c.ic / c.groups, c.kh, c.kw}, o.w,
                                 {o.w_scales, std::vector<int32_t>(o.w_scales.size()), 0});
  std::vector<om::TensorId> inputs = {x, w, c.bias ? b.Floats({c.oc}, o.bias) : om::kNoTensor};
  if (c.residual)
    inputs.push_back(b.Quantized(b.Input(out, om::DataType::kUInt8), {{o.residual_scale}, {o.residual_zero}}));
  om::Attributes attributes = {{"strides", std::vector<int64_t>{c.stride, c.stride}},
                               {"dilations", std::vector<int64_t>{c.dilation, c.dilation}},
                               {"group", c.groups},
                               {"pads", std::vector<int64_t>(4, c.pad)}};
  if (!c.activation.empty()) attributes["activation"] = c.activation;
  if (c.activation == "LeakyRelu") attributes["activation_alpha"] = kAlpha;
  if (c.activation == "Clip") attributes["activation_alpha"] = kClipLow, attributes["activation_beta"] = kClipHigh;
  if (addend) {
    inputs.resize(5, om::kNoTensor);
    inputs.push_back(b.Quantized(b.Input(out, om::DataType::kUInt8), addend->quantization));
    attributes["row_scale"] = y_scale, attributes["row_zero_point"] = int64_t{y_zero};
    attributes["add_low"] = addend->low, attributes["add_high"] = addend->high;
    attributes["addend_first"] = int64_t{addend->first};
  }
  if (!factors.empty()) {
    inputs.resize(6, om::kNoTensor);
    inputs.push_back(b.Floats({c.oc}, factors));
  }
  const bool real = y_scale == 0;
  const om::TensorId y = b.Node("Conv", inputs, out, attributes, real ? om::DataType::kFloat32 : om::DataType::kUInt8);
  b.Output(real ? y : b.Quantized(y, addend ? addend->sum : Quantization{{y_scale}, {y_zero}}));
  std::vector<om::Bytes> contents = {om::ToBytes(o.x)};
  if (c.residual) contents.push_back(om::ToBytes(o.residual));
  if (addend) contents.push_back(om::ToBytes(addend->bytes));
  const auto got = program::EvaluateGraph(b.graph(), contents);
  EXPECT_TRUE(got.ok()) << got.status().message();
  return got.ok() ? (*got)[0] : om::Bytes();
}

void Check(const Case& c) {
  SCOPED_TRACE(::testing::Message() << "n " << c.n << " ic " << c.ic << " oc " << c.oc << " groups " << c.groups
                                    << " kernel " << c.kh << "x" << c.kw << " stride " << c.stride << " dilation "
                                    << c.dilation << " size " << c.ih << "x" << c.iw << " pad " << c.pad << " "
                                    << c.activation << (c.residual ? " residual" : ""));
  const Operands o(c);
  const std::vector<double> expected = Reference(c, o);
  const float scale = 0.017f;
  const int32_t zero = c.activation == "Relu" ? 0 : 101;
  const auto bytes = om::FromBytes<uint8_t>(kernels::Run(c, o, scale, zero));
  ASSERT_EQ(bytes.size(), expected.size());
  // Half a step, and what a byte's activation may be off.
  const double limit = 0.5 + (c.activation == "Silu" || c.activation == "Sigmoid" ? 0.06 : 0.001);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double held = std::min(std::max(expected[i] / scale + zero, 0.0), 255.0);
    ASSERT_NEAR(bytes[i], held, limit) << "element " << i;
  }
  const auto reals = om::FromBytes<float>(Run(c, o, 0, 0));
  ASSERT_EQ(reals.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(reals[i], expected[i], 2e-6 * (1 + std::fabs(expected[i]))) << "element " << i;
}

TEST(ByteConvTest, ManyShapes) {
  const Case cases[] = {
      // n ic ih iw oc g kh kw s d pad activation bias residual
      {1, 16, 13, 13, 16, 1, 1, 1, 1, 1, 0, "", true, false},
      {1, 64, 26, 26, 80, 1, 1, 1, 1, 1, 0, "Sigmoid", true, false},
      {2, 58, 9, 7, 58, 1, 1, 1, 1, 1, 0, "Relu", true, false},
      {1, 300, 5, 5, 33, 1, 1, 1, 1, 1, 0, "Silu", false, true},
      {1, 32, 14, 14, 48, 1, 1, 1, 2, 1, 0, "Clip", true, false},
      {1, 32, 15, 14, 64, 1, 3, 3, 1, 1, 1, "Silu", true, true},
      {1, 24, 15, 17, 24, 1, 3, 3, 2, 1, 1, "LeakyRelu", true, false},
      {1, 3, 33, 31, 16, 1, 3, 3, 2, 1, 1, "Silu", true, false},
      {1, 3, 40, 40, 64, 1, 7, 7, 2, 1, 3, "Relu", true, false},
      {2, 4, 32, 32, 96, 1, 6, 6, 2, 1, 2, "Relu", true, false},
      {1, 1, 28, 28, 8, 1, 5, 5, 1, 1, 2, "Relu", true, false},
      {1, 3, 20, 20, 8, 1, 3, 3, 3, 1, 0, "", true, false},
      {2, 12, 20, 20, 16, 1, 3, 3, 1, 1, 1, "", true, false},
      {1, 40, 12, 12, 40, 1, 3, 3, 1, 2, 2, "Relu", true, false},
      {1, 16, 11, 11, 8, 1, 3, 3, 3, 1, 0, "", false, false},
      {1, 128, 7, 7, 128, 1, 3, 3, 1, 1, 1, "Relu", true, true},
      {1, 64, 10, 10, 64, 4, 3, 3, 1, 1, 1, "HardSwish", true, false},
      {1, 32, 20, 20, 32, 32, 3, 3, 1, 1, 1, "Silu", true, false},
      {1, 32, 9, 67, 32, 32, 3, 3, 1, 1, 1, "Relu", true, true},
      {2, 58, 21, 19, 58, 58, 3, 3, 2, 1, 1, "Relu", true, false},
      {1, 24, 20, 20, 24, 24, 5, 5, 1, 1, 2, "Sigmoid", true, false},
      {1, 16, 14, 14, 16, 16, 5, 5, 2, 1, 2, "", true, true},
      {1, 16, 9, 9, 16, 16, 3, 3, 1, 2, 2, "", false, false},
      {1, 20, 12, 11, 20, 20, 3, 3, 3, 1, 1, "", true, false},
      {1, 16, 3, 2, 16, 16, 7, 7, 1, 1, 3, "", true, false},
      {1, 16, 6, 1, 16, 16, 1, 1, 1, 1, 0, "", true, false},
  };
  for (const Case& c : cases) Check(c);
}

TEST(ByteConvTest, AnAddendIsAddedToTheBytes) {
  const Case cases[] = {
      {2, 16, 13, 13, 40, 1, 1, 1, 1, 1, 0, "", true, false},   {1, 32, 15, 70, 64, 1, 3, 3, 1, 1, 1, "Relu", true, false},
      {1, 32, 14, 14, 48, 1, 1, 1, 2, 1, 0, "Silu", true, true}, {1, 24, 7, 7, 24, 24, 3, 3, 1, 1, 1, "", true, false},
      {1, 24, 9, 90, 24, 24, 5, 5, 1, 1, 2, "", true, false},
  };
  const float scale = 0.017f;
  const int32_t zero = 101;
  for (const Case& c : cases) {
    const Operands o(c);
    const auto rows = om::FromBytes<uint8_t>(kernels::Run(c, o, scale, zero));
    const Addend addend = {RandomIntegers<uint8_t>(rows.size(), 0, 255, 6), {{0.023f}, {77}}, {{0.031f}, {90}}, 90, 200,
                           c.residual};
    const auto sums = om::FromBytes<uint8_t>(kernels::Run(c, o, scale, zero, &addend));
    ASSERT_EQ(sums.size(), rows.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const double real = (rows[i] - zero) * 0.017 + (addend.bytes[i] - 77) * 0.023;
      ASSERT_NEAR(sums[i], std::clamp(real / 0.031 + 90, 90.0, 200.0), 0.5001) << c.oc << " channels, element " << i;
    }
  }
}

TEST(ByteConvTest, FactorsMultiplyTheFunctionsResults) {
  const Case cases[] = {
      {2, 16, 13, 13, 40, 1, 1, 1, 1, 1, 0, "Silu", true, false},  {1, 3, 33, 31, 24, 1, 3, 3, 2, 1, 1, "Silu", true, true},
      {1, 32, 14, 14, 48, 1, 1, 1, 2, 1, 0, "Relu", true, true},   {1, 24, 7, 7, 24, 24, 3, 3, 1, 1, 1, "Relu", true, false},
      {1, 24, 9, 90, 24, 24, 5, 5, 1, 1, 2, "Clip", true, false},  {1, 64, 10, 10, 64, 4, 3, 3, 1, 1, 1, "HardSwish", true, false},
      {1, 40, 12, 12, 40, 1, 3, 3, 1, 2, 2, "", false, false},
  };
  const float scale = 0.017f;
  const int32_t zero = 101;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.activation);
    const Operands o(c);
    std::vector<float> factors = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.oc), 7);
    for (float& factor : factors) factor = 0.2f + 3 * std::fabs(factor);
    const std::vector<double> expected = Reference(c, o);
    const auto bytes = om::FromBytes<uint8_t>(kernels::Run(c, o, scale, zero, nullptr, factors));
    ASSERT_EQ(bytes.size(), expected.size());
    const auto pixels = static_cast<size_t>(c.oh() * c.ow());
    for (size_t i = 0; i < expected.size(); ++i) {
      const double factor = factors[i / pixels % factors.size()], held = expected[i] * factor / 0.017 + zero;
      ASSERT_NEAR(bytes[i], std::clamp(held, 0.0, 255.0), 0.501 + (c.activation == "Silu" ? 0.06 * factor : 0)) << "element " << i;
    }
  }
}

TEST(ByteConvTest, WhatBytesCannotDoIsRefused) {
  om::GraphBuilder b;
  const om::TensorId x = b.Quantized(b.Input({1, 3, 8, 8}, om::DataType::kUInt8), {{0.1f}, {3}});
  b.Output(b.Node("Conv", {x, b.Random({16, 3, 3, 3}, 1)}, {1, 16, 6, 6}));
  const auto plan = program::Lower(b.graph());
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("not quantised to int8"), std::string::npos) << plan.status().message();
}

}  // namespace
}  // namespace npustream::kernels
