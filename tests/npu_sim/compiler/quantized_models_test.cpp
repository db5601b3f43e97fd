// Models with QuantizeLinear and DequantizeLinear: which integer operators they become, and that these give what the
// operators of real numbers between them give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/ir/print.h"
#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/model_builder.h"

namespace npustream::compiler {
namespace {

using Ints = std::vector<int64_t>;

// A model of pictures 1x3x20x20 whose tensors are quantised by name.
class QuantizedModel {
 public:
  QuantizedModel() { builder_.Input("x", {1, 3, 20, 20}); }

  // x → integers → x again, as name + "_r".
  std::string Quantize(const std::string& name, float scale, int zero, om::DataType type = om::DataType::kUInt8) {
    const std::string s = name + "_scale", z = name + "_zero", q = name + "_q", r = name + "_r";
    builder_.Floats(s, {}, {scale});
    Integers(z, type, {}, om::Bytes{static_cast<std::byte>(zero)});
    builder_.Node("QuantizeLinear", {name, s, z}, q).Node("DequantizeLinear", {q, s, z}, r);
    return r;
  }
  // A convolution with scales per result channel and an int32 bias.
  std::string Conv(const std::string& x, float x_scale, const std::string& y, int64_t ic, int64_t oc, int64_t kernel,
                   int64_t stride = 1, int64_t groups = 1) {
    const size_t count = static_cast<size_t>(oc * ic / groups * kernel * kernel);
    std::mt19937 random(static_cast<unsigned>(count));
    om::Bytes weights(count), zeros(static_cast<size_t>(oc)), bias(static_cast<size_t>(oc) * 4),
        bias_zeros(static_cast<size_t>(oc) * 4);
    for (std::byte& w : weights) w = static_cast<std::byte>(static_cast<int>(random() % 255) - 127);
    for (size_t c = 0; c < static_cast<size_t>(oc); ++c) {
      const int32_t value = static_cast<int32_t>(random() % 2000) - 1000;
      std::memcpy(bias.data() + c * 4, &value, 4);
    }
    std::vector<float> scales, bias_scales;
    for (int64_t c = 0; c < oc; ++c) {
      scales.push_back((0.5f + static_cast<float>(random() % 100) / 100) * 0.015f /
                       std::sqrt(static_cast<float>(ic / groups * kernel * kernel)));
      bias_scales.push_back(scales.back() * x_scale);
    }
    const om::Attributes axis = {{"axis", int64_t{0}}};
    Integers(y + "_w", om::DataType::kInt8, {oc, ic / groups, kernel, kernel}, weights);
    Integers(y + "_wz", om::DataType::kInt8, {oc}, zeros);
    Integers(y + "_b", om::DataType::kInt32, {oc}, bias);
    Integers(y + "_bz", om::DataType::kInt32, {oc}, bias_zeros);
    builder_.Floats(y + "_ws", {oc}, scales).Floats(y + "_bs", {oc}, bias_scales);
    builder_.Node("DequantizeLinear", {y + "_w", y + "_ws", y + "_wz"}, y + "_wr", axis);
    builder_.Node("DequantizeLinear", {y + "_b", y + "_bs", y + "_bz"}, y + "_br", axis);
    builder_.Node("Conv", {x, y + "_wr", y + "_br"}, y,
                  {{"pads", Ints(4, kernel / 2)}, {"strides", Ints(2, stride)}, {"group", groups}});
    return y;
  }
  // Weights of a matrix product with one scale per row (`axis` 0) or column, real numbers.
  std::string Matrix(const std::string& name, int64_t rows, int64_t columns, int64_t axis) {
    const int64_t count = axis == 0 ? rows : columns;
    om::Bytes weights(static_cast<size_t>(rows * columns));
    std::mt19937 random(static_cast<unsigned>(weights.size()));
    for (std::byte& w : weights) w = static_cast<std::byte>(static_cast<int>(random() % 255) - 127);
    std::vector<float> scales;
    for (int64_t i = 0; i < count; ++i) scales.push_back(0.001f * static_cast<float>(1 + i % 3));
    Integers(name + "_w", om::DataType::kInt8, {rows, columns}, weights);
    Integers(name + "_wz", om::DataType::kInt8, {count}, om::Bytes(static_cast<size_t>(count)));
    builder_.Floats(name + "_ws", {count}, scales);
    builder_.Node("DequantizeLinear", {name + "_w", name + "_ws", name + "_wz"}, name, {{"axis", axis}});
    return name;
  }
  // 1000, 2000, … in steps of `x_scale` times Matrix's scales, real numbers.
  std::string Bias(const std::string& name, float x_scale, int64_t count) {
    om::Bytes values(static_cast<size_t>(count) * 4);
    std::vector<float> scales;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<int32_t>(1000 * (i + 1));
      std::memcpy(values.data() + i * 4, &value, 4);
      scales.push_back(x_scale * 0.001f * static_cast<float>(1 + i % 3));
    }
    Integers(name + "_b", om::DataType::kInt32, {count}, values);
    builder_.Floats(name + "_bs", {count}, scales);
    builder_.Node("DequantizeLinear", {name + "_b", name + "_bs"}, name, {{"axis", int64_t{0}}});
    return name;
  }
  std::string Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                   om::Attributes attributes = {}) {
    builder_.Node(op, inputs, output, std::move(attributes));
    return output;
  }
  // What all the cases begin with: 16 channels of 20x20 in steps of 1/50.
  std::string Stem(om::DataType type = om::DataType::kUInt8, int zero = 0) {
    const std::string x = Quantize("x", 1 / 127.0f, type == om::DataType::kUInt8 ? 128 : 0, type);
    return Quantize(Node("Relu", {Conv(x, 1 / 127.0f, "c0", 3, 16, 3)}, "r0"), 0.02f, zero, type);
  }
  ModelBuilder& Output(const std::string& name) { return builder_.Node("Identity", {name}, "y").Output("y"); }
  ModelBuilder& builder() { return builder_; }

 private:
  void Integers(const std::string& name, om::DataType type, om::Dims dims, om::Bytes content) {
    builder_.model().graph.initializers[name] = {name, type, std::move(dims),
                                                 std::make_shared<om::Bytes>(std::move(content))};
  }

  ModelBuilder builder_;
};

struct Case {
  const char* name;
  std::function<void(QuantizedModel&)> build;
  std::vector<std::string> expected;  // operators in order, with the type of their result
  double steps;                       // of the result's quantisation that it may differ, at a rounding's edge
};

const Case kCases[] = {
    {"conv", [](QuantizedModel& m) { m.Output(m.Stem()); }, {"Quantize", "Conv uint8", "Dequantize"}, 1},
    {"signed",
     [](QuantizedModel& m) { m.Output(m.Stem(om::DataType::kInt8, -128)); },
     {"Quantize", "Conv uint8", "Dequantize"},
     1},
    {"real_result",
     [](QuantizedModel& m) { m.Output(m.Conv(m.Stem(), 0.02f, "c1", 16, 8, 1)); },
     {"Quantize", "Conv uint8", "Conv float32"},
     1},
    {"depthwise_clip",
     [](QuantizedModel& m) {
       m.builder().Floats("low", {}, {0}).Floats("high", {}, {6});
       const std::string c = m.Conv(m.Stem(), 0.02f, "c1", 16, 16, 3, 2, 16);
       m.Output(m.Quantize(m.Node("Clip", {c, "low", "high"}, "r1"), 6 / 255.0f, 0));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Dequantize"},
     1},
    {"silu_in_pieces",
     [](QuantizedModel& m) {
       const std::string c = m.Quantize(m.Conv(m.Stem(), 0.02f, "c1", 16, 16, 1), 0.04f, 120);
       const std::string s = m.Quantize(m.Node("Sigmoid", {c}, "s1"), 1 / 255.0f, 0);
       m.Output(m.Quantize(m.Node("Mul", {c, s}, "m1"), 0.03f, 20));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Dequantize"},
     1},
    {"residual",
     [](QuantizedModel& m) {
       const std::string a = m.Stem();
       const std::string c = m.Quantize(m.Conv(a, 0.02f, "c1", 16, 16, 3), 0.0307f, 128);
       m.Output(m.Quantize(m.Node("Relu", {m.Node("Add", {c, a}, "a1")}, "r1"), 0.0413f, 0));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Dequantize"},
     1},
    {"residual_of_two_convolutions",
     [](QuantizedModel& m) {
       const std::string a = m.Stem();
       const std::string c = m.Quantize(m.Conv(a, 0.02f, "c1", 16, 16, 3), 0.0307f, 128);
       const std::string d = m.Quantize(m.Conv(a, 0.02f, "c2", 16, 16, 1), 0.0213f, 100);
       m.Output(m.Quantize(m.Node("Add", {c, d}, "a1"), 0.0413f, 7));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Conv uint8", "Dequantize"},
     1},
    {"sum_of_one_convolution_with_itself",
     [](QuantizedModel& m) {
       const std::string c = m.Quantize(m.Conv(m.Stem(), 0.02f, "c1", 16, 16, 3), 0.0307f, 128);
       m.Output(m.Quantize(m.Node("Add", {c, c}, "a1"), 0.0613f, 128));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Dequantize"},
     1},
    {"pool_and_upsampling",
     [](QuantizedModel& m) {
       m.builder().Floats("scales", {4}, {1, 1, 2, 2});
       const std::string p = m.Quantize(m.Node("MaxPool", {m.Stem()}, "p1",
                                               {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}}),
                                        0.02f, 0);
       m.Output(m.Quantize(m.Node("Resize", {p, "", "scales"}, "u1",
                                  {{"mode", std::string("nearest")},
                                   {"coordinate_transformation_mode", std::string("asymmetric")},
                                   {"nearest_mode", std::string("floor")}}),
                           0.02f, 0));
     },
     {"Quantize", "Conv uint8", "MaxPool uint8", "Resize uint8", "Dequantize"},
     1},
    {"join_of_other_scales",
     [](QuantizedModel& m) {
       const std::string a = m.Stem();
       const std::string c = m.Quantize(m.Conv(a, 0.02f, "c1", 16, 20, 1), 0.03f, 128);
       m.Output(m.Quantize(m.Node("Concat", {a, c}, "j1", {{"axis", int64_t{1}}}), 0.03f, 128));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Lookup uint8", "Concat uint8", "Dequantize"},
     1},
    {"mean_of_a_picture",
     [](QuantizedModel& m) { m.Output(m.Quantize(m.Node("GlobalAveragePool", {m.Stem(om::DataType::kUInt8, 9)}, "g1"), 0.013f, 3)); },
     {"Quantize", "Conv uint8", "GlobalAveragePool uint8", "Dequantize"},
     1},
    {"means_of_windows",
     [](QuantizedModel& m) {
       m.Output(m.Quantize(m.Node("AveragePool", {m.Stem(om::DataType::kUInt8, 9)}, "a1",
                                  {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 1, 0, 1}}}),
                           0.017f, 30));
     },
     {"Quantize", "Conv uint8", "AveragePool uint8", "Dequantize"},
     1},
    {"means_that_count_padding",
     [](QuantizedModel& m) {
       m.Output(m.Quantize(m.Node("AveragePool", {m.Stem(om::DataType::kUInt8, 9)}, "a1",
                                  {{"kernel_shape", Ints{3, 3}}, {"pads", Ints(4, 1)}, {"count_include_pad", int64_t{1}}}),
                           0.017f, 30));
     },
     {"Quantize", "Conv uint8", "AveragePool uint8", "Dequantize"},
     1},
    {"squeeze_and_excitation",
     [](QuantizedModel& m) {
       const std::string a = m.Stem();
       const std::string g = m.Quantize(m.Node("GlobalAveragePool", {a}, "g1"), 0.02f, 0);
       const std::string s = m.Quantize(m.Node("HardSigmoid", {m.Conv(g, 0.02f, "c1", 16, 16, 1)}, "h1"), 1 / 255.0f, 0);
       m.Output(m.Quantize(m.Node("Mul", {s, a}, "m1"), 0.015f, 0));
     },
     {"Quantize", "Conv uint8", "GlobalAveragePool uint8", "Conv uint8", "ByteMul uint8", "Dequantize"},
     1},
    {"sum_with_a_value_per_channel",
     [](QuantizedModel& m) {
       const std::string a = m.Stem();
       const std::string g = m.Quantize(m.Node("GlobalAveragePool", {a}, "g1"), 0.02f, 0);
       m.Output(m.Quantize(m.Node("Add", {a, g}, "s1"), 0.041f, 0));
     },
     {"Quantize", "Conv uint8", "GlobalAveragePool uint8", "ByteAdd uint8", "Dequantize"},
     1},
    {"padding",
     [](QuantizedModel& m) {
       m.builder().Ints("pads", {0, 0, 1, 2, 0, 0, 0, 1}).Floats("value", {}, {0.5f});
       m.Output(m.Quantize(m.Node("Pad", {m.Stem(om::DataType::kUInt8, 9), "pads", "value"}, "p1"), 0.02f, 9));
     },
     {"Quantize", "Conv uint8", "Pad uint8", "Dequantize"},
     1},
    {"functions_behind_convolutions",
     [](QuantizedModel& m) {
       const std::string a = m.Quantize(m.Node("HardSwish", {m.Conv(m.Stem(), 0.02f, "c1", 16, 16, 1)}, "h1"), 0.03f, 20);
       const std::string b = m.Quantize(m.Node("LeakyRelu", {m.Conv(a, 0.03f, "c2", 16, 16, 1)}, "l2"), 0.03f, 20);
       m.builder().Floats("slope", {1}, {0.25f});
       const std::string c = m.Quantize(m.Conv(b, 0.03f, "c3", 16, 16, 1), 0.03f, 120);
       m.Output(m.Quantize(m.Node("PRelu", {c, "slope"}, "p3"), 0.03f, 60));
     },
     {"Quantize", "Conv uint8", "Conv uint8", "Conv uint8", "Conv uint8", "Dequantize"},
     1},
    {"matrix_product",
     [](QuantizedModel& m) {
       const std::string x = m.Quantize("x", 1 / 127.0f, 128);
       m.Output(m.Quantize(m.Node("MatMul", {x, m.Matrix("w", 20, 12, 1)}, "p"), 0.011f, 100));
     },
     {"Quantize", "ByteMatMul uint8", "Dequantize"},
     1},
    {"signed_matrix_product_of_real_numbers",
     [](QuantizedModel& m) {
       const std::string x = m.Quantize("x", 1 / 127.0f, -5, om::DataType::kInt8);
       m.Output(m.Node("MatMul", {x, m.Matrix("w", 20, 12, 1)}, "p"));
     },
     {"Quantize", "ByteMatMul float32"},
     1},
    {"row_and_activation_behind_a_matrix_product",
     [](QuantizedModel& m) {
       const std::string x = m.Quantize("x", 1 / 127.0f, 128);
       m.builder().Floats("row", {1, 1, 12}, std::vector<float>(12, 0.25f));
       const std::string p = m.Node("Add", {"row", m.Node("MatMul", {x, m.Matrix("w", 20, 12, 1)}, "p")}, "s");
       m.Output(m.Quantize(m.Node("Relu", {p}, "r"), 0.007f, 0));
     },
     {"Quantize", "ByteMatMul uint8", "Dequantize"},
     1},
    {"fully_connected_layer",
     [](QuantizedModel& m) {
       const std::string x = m.Quantize(m.Node("Flatten", {"x"}, "f", {{"axis", int64_t{3}}}), 1 / 127.0f, 128);
       m.Output(m.Quantize(m.Node("Gemm", {x, m.Matrix("w", 12, 20, 0), m.Bias("b", 1 / 127.0f, 12)}, "p",
                                  {{"transB", int64_t{1}}}),
                           0.011f, 100));
     },
     {"Quantize", "ByteMatMul uint8", "Dequantize"},
     1},
    {"row_added_to_a_matrix_product",
     [](QuantizedModel& m) {
       const std::string x = m.Quantize(m.Node("Flatten", {"x"}, "f", {{"axis", int64_t{3}}}), 1 / 127.0f, 128);
       m.builder().Floats("row", {12}, std::vector<float>(12, 0.25f));
       m.Output(m.Quantize(m.Node("Gemm", {x, m.Matrix("w", 20, 12, 1), "row"}, "p"), 0.011f, 100));
     },
     {"Quantize", "ByteMatMul uint8", "Dequantize"},
     1},
};

class QuantizedModels : public testing::TestWithParam<Case> {};

std::vector<std::string> Operators(const om::Graph& graph) {
  std::vector<std::string> names;
  for (const om::Node& node : graph.nodes) {
    const bool edge = node.op == "Quantize" || node.op == "Dequantize";
    if (node.op == "Reshape") continue;  // a result that is handed on
    names.push_back(edge ? node.op : node.op + " " + om::ToString(graph.tensors[static_cast<size_t>(node.outputs[0])].type));
  }
  return names;
}

std::vector<float> Evaluate(const om::Graph& graph) {
  std::mt19937 random(5);
  std::vector<float> x(3 * 20 * 20);
  for (float& value : x) value = static_cast<float>(random() % 2000) / 1000 - 1;
  om::Bytes bytes(x.size() * sizeof(float));
  std::memcpy(bytes.data(), x.data(), bytes.size());
  const auto result = program::EvaluateGraph(graph, {bytes});
  EXPECT_TRUE(result.ok()) << result.status().message();
  std::vector<float> values(result.ok() ? (*result)[0].size() / sizeof(float) : 0);
  if (!values.empty()) std::memcpy(values.data(), (*result)[0].data(), (*result)[0].size());
  return values;
}

TEST_P(QuantizedModels, BecomeIntegerOperatorsThatGiveTheSame) {
  QuantizedModel model;
  GetParam().build(model);
  const auto graph = ImportModel(model.builder(), {});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  om::Graph integers = *graph, reals = *graph;
  ASSERT_TRUE(RunPasses(integers, {}).ok());
  ASSERT_TRUE(RunPasses(reals, {"FuseLookup", "FuseQuantized"}).ok());
  for (om::Graph* passed : {&integers, &reals}) ASSERT_TRUE(RemoveDeadCode(*passed).ok());
  EXPECT_EQ(Operators(integers), GetParam().expected) << PrintGraph(integers);
  const std::vector<float> got = Evaluate(integers), expected = Evaluate(reals);
  // What is done while a row is in the cache is the same as what is done later.
  om::Graph apart = *graph;
  ASSERT_TRUE(RunPasses(apart, {"FuseConvLookup", "FuseConvByteAdd"}).ok());
  EXPECT_EQ(got, Evaluate(apart));
  ASSERT_EQ(got.size(), expected.size());
  // Sums of real numbers round, so that some results fall to the other side of a step.
  size_t different = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 0.042 * GetParam().steps) << "element " << i;
    different += std::fabs(got[i] - expected[i]) > 1e-4f * (1 + std::fabs(expected[i])) ? 1 : 0;
  }
  EXPECT_LE(different, got.size() / 200);
}

INSTANTIATE_TEST_SUITE_P(Cases, QuantizedModels, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace npustream::compiler
