#include "npu_sim/compiler/quantize/plan_quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/compiler/passes/insert_quantization.h"
#include "npu_sim/compiler/quantize/output_error.h"
#include "npu_sim/compiler/quantize/report.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/model_builder.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

std::vector<float> Random(size_t count, float reach, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-reach, reach);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

// x → c0, Relu → two convolutions and their sum → c3, whose result goes to a sigmoid: the model's output.
ModelBuilder SmallNet() {
  ModelBuilder builder;
  builder.Input("x", {1, 3, 8, 8}).Floats("w0", {16, 3, 3, 3}, Random(16 * 27, 0.3f, 1));
  for (const char* name : {"w1", "w2"}) builder.Floats(name, {16, 16, 1, 1}, Random(256, 0.4f, name[1]));
  builder.Floats("w3", {4, 16, 1, 1}, Random(64, 0.4f, 4));
  const om::Attributes padded = {{"pads", Ints(4, 1)}};
  builder.Node("Conv", {"x", "w0"}, "c0", padded).Node("Relu", {"c0"}, "r0");
  builder.Node("Conv", {"r0", "w1"}, "c1").Node("Sigmoid", {"c1"}, "s1").Node("Mul", {"c1", "s1"}, "m1");
  builder.Node("Conv", {"m1", "w2"}, "c2").Node("Add", {"c2", "r0"}, "a2").Node("Relu", {"a2"}, "r2");
  builder.Node("Conv", {"r2", "w3"}, "c3").Node("Sigmoid", {"c3"}, "y").Output("y");
  return builder;
}

CalibrationData Data(size_t samples) {
  const std::vector<float> values = Random(samples * 3 * 64, 1, 9);
  CalibrationData data;
  data.inputs.emplace_back(values.size() * sizeof(float));
  std::memcpy(data.inputs[0].data(), values.data(), data.inputs[0].size());
  return data;
}

CompileOptions Options() {
  CompileOptions options;
  options.model_name = "small", options.soc = "Ascend310P3";
  return options;
}

QuantizationScheme Planned(const QuantizationOptions& quantization = {}) {
  auto scheme = PlanQuantization(SmallNet(), Options(), Data(4), quantization);
  EXPECT_TRUE(scheme.ok()) << scheme.status().message();
  return scheme.ok() ? *scheme : QuantizationScheme();
}

std::vector<std::string> Types(const QuantizationScheme& scheme) {
  std::vector<std::string> types;
  for (const LayerReport& layer : scheme.layers) types.push_back(layer.output + (layer.integer ? " int8" : " real"));
  return types;
}

TEST(PlanQuantization, QuantisesEveryConvolutionOfAHarmlessNet) {
  const QuantizationScheme scheme = Planned();
  EXPECT_THAT(Types(scheme), ElementsAre("r0 int8", "m1 int8", "r2 int8", "y int8"));
  EXPECT_GT(scheme.output_error, 0);
  EXPECT_LT(scheme.output_error, 0.02);
  for (const LayerReport& layer : scheme.layers) EXPECT_GT(layer.cosine, 0.999) << layer.output;
  EXPECT_EQ(scheme.tensors.count("y"), 0u);  // heads write real numbers
  EXPECT_EQ(scheme.tensors.count("x"), 1u);
}

// All that is between two convolutions is bytes; Silu is looked up by the convolution before it.
TEST(PlanQuantization, GivesIntegerKernels) {
  CompileOptions options = Options();
  options.quantization = std::make_shared<const QuantizationScheme>(Planned());
  const auto model = Compile(SmallNet(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const om::Graph& graph = model->plans[0].graph;
  std::vector<std::string> nodes;
  for (const om::Node& node : graph.nodes) {
    nodes.push_back(node.op + " " + om::ToString(graph.tensors[static_cast<size_t>(node.outputs[0])].type));
  }
  EXPECT_THAT(nodes, ElementsAre("Quantize uint8", "Conv uint8", "Conv uint8", "Conv uint8", "Conv float32"));
  EXPECT_EQ(graph.nodes[2].inputs.size(), 5u);
}

TEST(PlanQuantization, MakesTheErrorThatItReports) {
  const QuantizationScheme scheme = Planned();
  CompileOptions options = Options();
  const auto real = Compile(SmallNet(), options);
  options.quantization = std::make_shared<const QuantizationScheme>(scheme);
  const auto quantised = Compile(SmallNet(), options);
  ASSERT_TRUE(real.ok() && quantised.ok());
  const om::Bytes all = Data(4).inputs[0];
  ErrorSum error;
  for (size_t s = 0; s < 4; ++s) {
    const size_t bytes = all.size() / 4;
    const om::Bytes sample(all.begin() + static_cast<std::ptrdiff_t>(s * bytes),
                           all.begin() + static_cast<std::ptrdiff_t>((s + 1) * bytes));
    const auto a = program::EvaluateGraph(real->plans[0].graph, {sample});
    const auto b = program::EvaluateGraph(quantised->plans[0].graph, {sample});
    ASSERT_TRUE(a.ok() && b.ok());
    const auto floats = [](const om::Bytes& values) {
      return std::span(reinterpret_cast<const float*>(values.data()), values.size() / sizeof(float));
    };
    error.Add(floats((*a)[0]), floats((*b)[0]));
  }
  EXPECT_NEAR(error.Relative(), scheme.output_error, 1e-9);
}

TEST(PlanQuantization, LeavesLayersRealThatAreNamed) {
  QuantizationOptions quantization;
  quantization.real_nodes = {"Conv_2", "r2"};
  const QuantizationScheme scheme = Planned(quantization);
  EXPECT_THAT(Types(scheme), ElementsAre("r0 int8", "m1 real", "r2 real", "y int8"));
  EXPECT_EQ(scheme.layers[1].reason, "asked for");
  quantization.real_nodes = {"OpType::Conv"};
  EXPECT_THAT(Types(Planned(quantization)), ElementsAre("r0 real", "m1 real", "r2 real", "y real"));
}

TEST(PlanQuantization, ReturnsHarmfulLayersUntilTheErrorIsWithinTheLimit) {
  QuantizationOptions quantization;
  quantization.tables = false;
  quantization.error_limit = Planned(quantization).output_error * 0.8;
  const QuantizationScheme scheme = Planned(quantization);
  EXPECT_LE(scheme.output_error, quantization.error_limit);
  const auto real = std::count_if(scheme.layers.begin(), scheme.layers.end(), [](const LayerReport& l) { return !l.integer; });
  EXPECT_GE(real, 1);
  EXPECT_LT(real, 4);
  double kept = 0, returned = 1e9;
  for (const LayerReport& layer : scheme.layers) {
    if (layer.integer) kept = std::max(kept, layer.own_error);
    if (!layer.integer) returned = std::min(returned, layer.own_error);
    EXPECT_EQ(layer.reason, layer.integer ? "" : "too large an error");
  }
  EXPECT_LE(kept, returned);
  quantization.error_limit = 0;
  const QuantizationScheme none = Planned(quantization);
  EXPECT_THAT(Types(none), ElementsAre("r0 real", "m1 real", "r2 real", "y real"));
  EXPECT_EQ(none.output_error, 0);
}

// A stem whose first channels are two hundred times as large as the others, Silu, and a depthwise convolution that undoes it.
ModelBuilder UnevenNet() {
  std::vector<float> stem = Random(16 * 27, 0.3f, 1), depthwise = Random(16 * 9, 0.4f, 2);
  for (size_t i = 0; i < 8 * 27; ++i) stem[i] *= 200;
  for (size_t i = 8 * 9; i < depthwise.size(); ++i) depthwise[i] *= 200;
  ModelBuilder builder;
  builder.Input("x", {1, 3, 8, 8}).Floats("w0", {16, 3, 3, 3}, stem).Floats("w1", {16, 1, 3, 3}, depthwise);
  builder.Floats("w2", {4, 16, 1, 1}, Random(64, 0.4f, 3));
  const om::Attributes padded = {{"pads", Ints(4, 1)}}, grouped = {{"pads", Ints(4, 1)}, {"group", int64_t{16}}};
  builder.Node("Conv", {"x", "w0"}, "c0", padded).Node("Sigmoid", {"c0"}, "s0").Node("Mul", {"c0", "s0"}, "m0");
  builder.Node("Conv", {"m0", "w1"}, "c1", grouped).Node("Conv", {"c1", "w2"}, "c2").Output("c2");
  return builder;
}

TEST(PlanQuantization, GivesChannelsFactorsBeforeLayersStayReal) {
  QuantizationOptions quantization;
  quantization.error_limit = 10;
  const auto looked_up = PlanQuantization(UnevenNet(), Options(), Data(4), quantization);
  ASSERT_TRUE(looked_up.ok()) << looked_up.status().message();
  EXPECT_TRUE(looked_up->computed.empty());
  quantization.error_limit = looked_up->output_error / 4;
  const auto scheme = PlanQuantization(UnevenNet(), Options(), Data(4), quantization);
  ASSERT_TRUE(scheme.ok()) << scheme.status().message();
  EXPECT_LE(scheme->output_error, quantization.error_limit);
  EXPECT_THAT(Types(*scheme), ElementsAre("m0 int8", "c1 int8", "c2 int8"));
  EXPECT_EQ(scheme->computed.count("m0"), 1u);

  CompileOptions options = Options();
  options.quantization = std::make_shared<const QuantizationScheme>(*scheme);
  const auto model = Compile(UnevenNet(), options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<std::string> nodes;
  for (const om::Node& node : model->plans[0].graph.nodes) nodes.push_back(node.op);
  EXPECT_THAT(nodes, ElementsAre("Quantize", "Conv", "Conv", "Conv"));
  EXPECT_EQ(model->plans[0].graph.nodes[1].inputs.size(), 7u);
}

TEST(PlanQuantization, LooksUpWhatTheLimitLeavesRoomFor) {
  QuantizationOptions quantization;
  quantization.tables = false;
  const double computed = Planned(quantization).output_error;
  quantization.tables = true;
  quantization.error_limit = 10;
  const double looked_up = Planned(quantization).output_error;
  ASSERT_LT(computed, looked_up);
  quantization.error_limit = looked_up;
  EXPECT_TRUE(Planned(quantization).computed.empty());
  quantization.error_limit = (computed + looked_up) / 2;
  EXPECT_EQ(Planned(quantization).computed.count("m1"), 1u);
}

TEST(PlanQuantization, GivesTheSameForTheSame) {
  CompileOptions options = Options();
  std::vector<om::Bytes> files;
  for (int i = 0; i < 2; ++i) {
    options.quantization = std::make_shared<const QuantizationScheme>(Planned());
    const auto model = Compile(SmallNet(), options);
    ASSERT_TRUE(model.ok());
    const auto bytes = om::WriteOm(*model);
    ASSERT_TRUE(bytes.ok());
    files.push_back(*bytes);
  }
  EXPECT_EQ(files[0], files[1]);
}

TEST(PlanQuantization, TakesTheMethodWithTheLeastErrorWhenNoneIsNamed) {
  QuantizationOptions quantization;
  quantization.method = std::nullopt;
  const QuantizationScheme best = Planned(quantization);
  for (const RangeMethod method :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kLeastSquares, RangeMethod::kEntropy}) {
    quantization.method = method;
    EXPECT_LE(best.output_error, Planned(quantization).output_error) << ToString(method);
  }
}

TEST(PlanQuantization, RefusesAModelThatIsQuantisedAlready) {
  ModelBuilder builder;
  builder.Input("x", {1, 3, 8, 8}).Floats("scale", {}, {0.1f}).Floats("w", {4, 3, 1, 1}, Random(12, 0.3f, 1));
  builder.Node("QuantizeLinear", {"x", "scale"}, "q").Node("DequantizeLinear", {"q", "scale"}, "d");
  builder.Node("Conv", {"d", "w"}, "y").Output("y");
  const Status status = PlanQuantization(builder, Options(), Data(1), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("quantised already"));
}

TEST(PlanQuantization, RefusesDataThatDoesNotFit) {
  const auto message = [](const CalibrationData& data) {
    return PlanQuantization(SmallNet(), Options(), data, {}).status().message();
  };
  CalibrationData data = Data(2);
  data.inputs[0].pop_back();
  EXPECT_THAT(message(data), HasSubstr("are no whole number of samples of 768 bytes"));
  data.inputs[0].clear();
  EXPECT_THAT(message(data), HasSubstr("0 bytes"));
  data.inputs.clear();
  EXPECT_THAT(message(data), HasSubstr("for 0 inputs, but the model has 1"));
}

TEST(PlanQuantization, UsesNoMoreImagesThanItMay) {
  CalibrationData data = Data(4);
  data.most_images = 3;
  EXPECT_EQ(PlanQuantization(SmallNet(), Options(), data, {})->samples, 3u);
}

// Values by hand: differences 0, 0, 1 against 3, 4, 0.
TEST(ErrorSum, IsWhatTheFormulasSay) {
  ErrorSum error;
  error.Add(std::vector<float>{3, 4}, std::vector<float>{3, 4});
  EXPECT_EQ(error.Relative(), 0);
  EXPECT_EQ(error.SqnrDb(), 200);
  error.Add(std::vector<float>{0}, std::vector<float>{1});
  EXPECT_DOUBLE_EQ(error.Relative(), 0.2);
  EXPECT_NEAR(error.SqnrDb(), 13.9794, 1e-4);
  EXPECT_DOUBLE_EQ(error.Cosine(), 25 / std::sqrt(25.0 * 26));
  EXPECT_EQ(error.Largest(), 1);
}

TEST(Report, HasALinePerLayer) {
  QuantizationScheme scheme;
  scheme.method = "kl", scheme.samples = 7, scheme.output_error = 0.125;
  scheme.layers.resize(2);
  scheme.layers[0].name = "stem", scheme.layers[0].output = "a", scheme.layers[0].integer = true;
  scheme.layers[0].input_high = 255, scheme.layers[0].input_scale = 1, scheme.layers[0].sqnr_db = 40;
  scheme.layers[1].name = "head", scheme.layers[1].reason = "asked for", scheme.layers[1].own_error = 0.5;
  const std::string text = ReportText(scheme);
  EXPECT_THAT(text, HasSubstr("stem                                     int8"));
  EXPECT_THAT(text, HasSubstr("asked for"));
  EXPECT_THAT(text, HasSubstr("1 of 2 layers run on 8-bit integers; ranges by kl over 7 samples; relative error of the "
                              "heads 0.1250"));
  const auto json = nlohmann::json::parse(ReportJson(scheme));
  EXPECT_EQ(json["integer_layers"], 1);
  EXPECT_EQ(json["layers"][0]["input_range"], (std::vector<double>{0, 255}));
  EXPECT_EQ(json["layers"][0]["type"], "int8");
  EXPECT_FALSE(json["layers"][0].contains("reason"));
  EXPECT_EQ(json["layers"][1]["own_error"], 0.5);
}

}  // namespace
}  // namespace npustream::compiler
