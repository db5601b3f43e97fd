// Transposed convolutions against a plain loop, on whatever instruction set this process uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using om::Dims;

struct Case {
  int64_t n, ic, ih, iw, oc, groups, kernel, stride, top, left, bottom, right, output_padding;
  std::string activation;
  bool bias;

  int64_t oh() const { return (ih - 1) * stride + kernel - top - bottom + output_padding; }
  int64_t ow() const { return (iw - 1) * stride + kernel - left - right + output_padding; }
};

// Every source pixel adds its weighted window to the result.
std::vector<double> Reference(const Case& c, const std::vector<float>& x, const std::vector<float>& w,
                              const std::vector<float>& b) {
  const int64_t icg = c.ic / c.groups, ocg = c.oc / c.groups;
  std::vector<double> y(static_cast<size_t>(c.n * c.oc * c.oh() * c.ow()));
  for (size_t i = 0; i < y.size(); ++i) y[i] = c.bias ? b[i / static_cast<size_t>(c.oh() * c.ow()) % b.size()] : 0;
  for (int64_t at = 0; at < static_cast<int64_t>(x.size()); ++at) {
    const int64_t w0 = at % c.iw, h0 = at / c.iw % c.ih, i = at / (c.iw * c.ih) % c.ic, n = at / (c.iw * c.ih * c.ic);
    for (int64_t o = 0; o < ocg; ++o) {
      for (int64_t k = 0; k < c.kernel * c.kernel; ++k) {
        const int64_t h = h0 * c.stride - c.top + k / c.kernel, v = w0 * c.stride - c.left + k % c.kernel;
        if (h < 0 || h >= c.oh() || v < 0 || v >= c.ow()) continue;
        y[((n * c.oc + i / icg * ocg + o) * c.oh() + h) * c.ow() + v] +=
            static_cast<double>(x[at]) * w[(i * ocg + o) * c.kernel * c.kernel + k];
      }
    }
  }
  for (double& value : y) {
    if (c.activation == "Relu") value = std::max(value, 0.0);
    if (c.activation == "Sigmoid") value = 1 / (1 + std::exp(-value));
  }
  return y;
}

TEST(ConvTransposeTest, ManyShapes) {
  const Case cases[] = {
      // n ic ih iw oc g k s t l b r output_padding activation bias
      {1, 32, 9, 11, 32, 1, 2, 2, 0, 0, 0, 0, 0, "Relu", true},
      {2, 24, 7, 30, 17, 1, 2, 2, 0, 0, 0, 0, 0, "Sigmoid", true},
      {1, 40, 10, 9, 48, 1, 4, 2, 1, 1, 1, 1, 0, "", true},
      {1, 16, 10, 9, 20, 1, 3, 2, 1, 1, 1, 1, 1, "Relu", false},
      {1, 16, 10, 9, 20, 1, 3, 2, 0, 0, 0, 0, 0, "", true},
      {1, 16, 10, 9, 20, 1, 3, 2, 1, 0, 0, 1, 0, "", true},
      {1, 20, 6, 6, 8, 1, 8, 4, 2, 2, 2, 2, 0, "", true},
      {1, 20, 6, 6, 8, 1, 4, 4, 0, 0, 0, 0, 0, "", true},
      {1, 20, 12, 12, 30, 1, 3, 1, 1, 1, 1, 1, 0, "Relu", true},
      {1, 8, 5, 5, 8, 1, 2, 3, 0, 0, 0, 0, 0, "", true},  // some results meet no weight
      {1, 8, 5, 5, 8, 1, 2, 2, 1, 1, 1, 1, 0, "", true},
      {1, 16, 8, 8, 16, 16, 4, 2, 1, 1, 1, 1, 0, "", true},
      {1, 24, 20, 20, 1, 1, 2, 2, 0, 0, 0, 0, 0, "Sigmoid", true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.ic << " to " << c.oc << " kernel " << c.kernel << " stride " << c.stride
                                      << " pads " << c.top << c.left << c.bottom << c.right);
    om::GraphBuilder b;
    const Dims in = {c.n, c.ic, c.ih, c.iw}, weights = {c.ic, c.oc / c.groups, c.kernel, c.kernel};
    const auto x = om::GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(in)), 1);
    const auto w = om::GraphBuilder::RandomFloats(static_cast<size_t>(om::ElementCount(weights)), 2);
    const auto bias = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.oc), 3);
    om::Attributes attributes = {{"strides", std::vector<int64_t>{c.stride, c.stride}},
                                 {"group", c.groups},
                                 {"pads", std::vector<int64_t>{c.top, c.left, c.bottom, c.right}}};
    if (!c.activation.empty()) attributes["activation"] = c.activation;
    std::vector<om::TensorId> inputs = {b.Input(in), b.Floats(weights, w)};
    if (c.bias) inputs.push_back(b.Floats({c.oc}, bias));
    b.Output(b.Node("ConvTranspose", inputs, {c.n, c.oc, c.oh(), c.ow()}, attributes));
    const auto got = program::EvaluateGraph(b.graph(), {om::ToBytes(x)});
    ASSERT_TRUE(got.ok()) << got.status().message();
    const auto result = om::FromBytes<float>((*got)[0]);
    const auto expected = Reference(c, x, w, bias);
    ASSERT_EQ(result.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(result[i], expected[i], 2e-5) << "element " << i;
  }
}

}  // namespace
}  // namespace npustream::kernels
