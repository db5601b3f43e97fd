// Nodes as a damaged file may have them: every attribute and every size is replaced by absurd ones. A kernel refuses
// the node, or it runs without leaving its memory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

constexpr int64_t kIntegers[] = {0, -1, 1, 3, 1 << 20, INT64_MIN, INT64_MAX};
constexpr float kReals[] = {0.0f, -1.0f, 1e-30f, 1e30f, std::numeric_limits<float>::infinity(), NAN};

// All that one attribute may become.
std::vector<om::Attribute> Variants(const om::Attribute& attribute) {
  std::vector<om::Attribute> variants = {std::string("magic"), Ints{}, Floats{}};
  if (std::holds_alternative<int64_t>(attribute)) {
    for (const int64_t value : kIntegers) variants.emplace_back(value);
  } else if (std::holds_alternative<float>(attribute)) {
    for (const float value : kReals) variants.emplace_back(value);
  } else if (const auto* ints = std::get_if<Ints>(&attribute)) {
    for (const int64_t value : kIntegers) variants.emplace_back(Ints(ints->size(), value));
  } else if (const auto* floats = std::get_if<Floats>(&attribute)) {
    for (const float value : kReals) variants.emplace_back(Floats(floats->size(), value));
  }
  return variants;
}

// Refused, or run over inputs that hold zeros, or numbers of any kind.
void RunIfAccepted(const om::Graph& graph) {
  if (!CheckNode(graph, graph.nodes[0]).ok()) return;
  for (const uint8_t fill : {0x00, 0x7f, 0xff}) {
    std::vector<om::Bytes> inputs;
    for (const om::TensorId id : graph.inputs)
      inputs.emplace_back(graph.tensors[static_cast<size_t>(id)].ByteSize(), std::byte{fill});
    (void)program::EvaluateGraph(graph, inputs);
  }
}

void Damage(const om::Graph& good) {
  ASSERT_TRUE(CheckNode(good, good.nodes[0]).ok()) << CheckNode(good, good.nodes[0]).message();
  RunIfAccepted(good);
  for (const auto& [name, attribute] : good.nodes[0].attributes) {
    for (const om::Attribute& variant : Variants(attribute)) {
      SCOPED_TRACE(name);
      om::Graph graph = good;
      graph.nodes[0].attributes[name] = variant;
      RunIfAccepted(graph);
    }
  }
  for (size_t i = 0; i < good.tensors.size(); ++i) {
    if (good.tensors[i].is_constant()) continue;
    for (size_t axis = 0; axis < good.tensors[i].dims.size(); ++axis) {
      for (const int64_t dim : {0, 1, 5}) {
        om::Graph graph = good;
        graph.tensors[i].dims[axis] = dim;
        RunIfAccepted(graph);
      }
    }
  }
}

om::Graph OneNode(const char* op, const om::Dims& x, const om::Dims& y, om::Attributes attributes,
                  om::DataType type = om::DataType::kFloat32) {
  om::GraphBuilder builder;
  const om::TensorId input = builder.Input(x);
  return builder.Output(builder.Node(op, {input}, y, std::move(attributes), type)).graph();
}

TEST(DamagedNodesTest, MaxPoolIndices) {
  Damage(OneNode("MaxPoolIndices", {1, 2, 4, 6}, {1, 2, 2, 3},
                 {{"kernel_shape", Ints{3, 2}},
                  {"strides", Ints{2, 2}},
                  {"dilations", Ints{1, 1}},
                  {"pads", Ints{1, 0, 0, 0}},
                  {"storage_order", int64_t{1}}},
                 om::DataType::kInt64));
}

TEST(DamagedNodesTest, CumSum) {
  Damage(OneNode("CumSum", {3, 4}, {3, 4}, {{"axis", int64_t{1}}, {"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}));
}

TEST(DamagedNodesTest, Resize) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "tf_crop_and_resize"}) {
      const om::Attributes attributes = {{"mode", mode},
                                         {"coordinate_transformation_mode", coordinates},
                                         {"nearest_mode", "ceil"},
                                         {"scales", Floats{1, 1, 0.5f, 2}},
                                         {"roi", Floats{0, 0, 0, 0, 1, 1, 1, 1}},
                                         {"cubic_coeff_a", -0.5f},
                                         {"exclude_outside", int64_t{1}},
                                         {"antialias", int64_t{1}}};
      Damage(OneNode("Resize", {1, 2, 4, 3}, {1, 2, 2, 6}, attributes));
    }
  }
}

TEST(DamagedNodesTest, RoiAlign) {
  om::GraphBuilder builder;
  const om::TensorId x = builder.Input({2, 2, 5, 4}), rois = builder.Input({3, 4}),
                     images = builder.Input({3}, om::DataType::kInt64);
  for (const char* mode : {"avg", "max"}) {
    om::GraphBuilder copy = builder;
    const om::Attributes attributes = {{"mode", mode},
                                       {"coordinate_transformation_mode", "half_pixel"},
                                       {"sampling_ratio", int64_t{0}},
                                       {"spatial_scale", 0.5f}};
    Damage(copy.Output(copy.Node("RoiAlign", {x, rois, images}, {3, 2, 2, 2}, attributes)).graph());
  }
}

TEST(DamagedNodesTest, Recurrences) {
  om::GraphBuilder builder;
  const om::TensorId x = builder.Input({3, 2, 4}), w = builder.Random({1, 12, 4}, 1), r = builder.Random({1, 12, 3}, 2);
  const auto outputs = builder.Nodes("LSTM", {x, w, r}, {{3, 1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
                                     {{"direction", "reverse"},
                                      {"activations", "Sigmoid,Tanh,Tanh"},
                                      {"alphas", Floats(3)},
                                      {"betas", Floats(3)},
                                      {"clip", 1.0f},
                                      {"linear_before_reset", int64_t{0}}});
  for (const om::TensorId id : outputs) builder.Output(id);
  Damage(builder.graph());
}

}  // namespace
}  // namespace npustream::kernels
