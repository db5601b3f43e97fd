// Bytes of a good model are changed at random (fixed seed): whatever comes out is refused with a sentence or is a graph
// in order. Run under the sanitizers this is where crashes would show.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <random>

#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/compiler/onnx/import_model.h"

namespace npustream::compiler {
namespace {

void AddFloats(onnx::GraphProto& graph, const std::string& name, const std::vector<int64_t>& dims) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  int64_t count = 1;
  for (const int64_t dim : dims) {
    tensor->add_dims(dim);
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) tensor->add_float_data(static_cast<float>(i));
}

onnx::NodeProto& AddNode(onnx::GraphProto& graph, const char* op, const std::vector<std::string>& inputs,
                         const std::string& output) {
  auto* node = graph.add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

void AddInts(onnx::NodeProto& node, const char* name, const std::vector<int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

void AddString(onnx::NodeProto& node, const char* name, const char* value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

void AddIndex(onnx::GraphProto& graph, const char* name, int64_t value) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(1);
  tensor->add_int64_data(value);
}

void AddInput(onnx::GraphProto& graph, const char* name, const std::vector<int64_t>& dims) {
  auto* input = graph.add_input();
  input->set_name(name);
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) type->mutable_shape()->add_dim()->set_dim_value(dim);
}

// Convolution, pooling, slicing, arithmetic on shapes and a matrix: the importers with most to check.
std::string GoodModel() {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(11);
  auto& graph = *model.mutable_graph();
  AddInput(graph, "x", {1, 2, 8, 8});
  graph.add_output()->set_name("y");
  AddFloats(graph, "w", {4, 2, 3, 3});
  AddFloats(graph, "m", {16, 3});
  AddIndex(graph, "i", 0);
  AddInts(AddNode(graph, "Conv", {"x", "w"}, "c"), "pads", {1, 1, 1, 1});
  auto& pool = AddNode(graph, "MaxPool", {"c"}, "p");
  AddInts(pool, "kernel_shape", {2, 2});
  AddInts(pool, "strides", {4, 4});
  AddInts(AddNode(graph, "Transpose", {"p"}, "t"), "perm", {0, 2, 3, 1});
  AddNode(graph, "Slice", {"t", "i", "i", "i"}, "unused");
  AddNode(graph, "Shape", {"t"}, "s");
  AddNode(graph, "Gather", {"s", "i"}, "g");
  AddNode(graph, "Flatten", {"t"}, "f");
  AddNode(graph, "MatMul", {"f", "m"}, "z");
  AddNode(graph, "Expand", {"z", "g"}, "y");
  return model.SerializeAsString();
}

// What is composed of many nodes: volumes, sums of products, recurrences, loops, choices by place.
std::string ComposedModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(14);
  auto& graph = *model.mutable_graph();
  AddInput(graph, "x", {1, 2, 4, 3, 3});
  AddInput(graph, "q", {3, 1, 4});
  for (const char* output : {"v", "e", "l", "n", "o", "u", "p"}) graph.add_output()->set_name(output);
  AddFloats(graph, "w", {2, 2, 2, 3, 3});
  AddFloats(graph, "m", {3, 3});
  AddFloats(graph, "lw", {1, 8, 4});
  AddFloats(graph, "lr", {1, 8, 2});
  AddFloats(graph, "switch", {2});
  AddIndex(graph, "three", 3);
  AddInts(AddNode(graph, "Conv", {"x", "w"}, "v"), "pads", {1, 0, 1, 0, 1, 0});
  AddString(AddNode(graph, "Einsum", {"x", "m"}, "e"), "equation", "n...h,k...->nkh");
  AddString(AddNode(graph, "LSTM", {"q", "lw", "lr"}, "l"), "direction", "reverse");
  AddNode(graph, "OneHot", {"q", "three", "switch"}, "o");
  AddNode(graph, "Trilu", {"q", "three"}, "u");
  AddInts(AddNode(graph, "LpPool", {"q"}, "p"), "kernel_shape", {2});
  auto* body = AddNode(graph, "Loop", {"three", "", "q"}, "n").add_attribute();
  body->set_name("body");
  body->set_type(onnx::AttributeProto::GRAPH);
  for (const char* name : {"i", "go", "carried"}) body->mutable_g()->add_input()->set_name(name);
  for (const char* name : {"go", "next"}) body->mutable_g()->add_output()->set_name(name);
  AddNode(*body->mutable_g(), "Add", {"carried", "q"}, "next");
  return model.SerializeAsString();
}

class MutatedModelsTest : public testing::TestWithParam<std::string (*)()> {};

INSTANTIATE_TEST_SUITE_P(Models, MutatedModelsTest, testing::Values(GoodModel, ComposedModel));

TEST_P(MutatedModelsTest, AreRefusedOrInOrder) {
  const std::string good = GetParam()();
  std::mt19937 random(20240607);
  int imported = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = good;
    const int changes = round == 0 ? 0 : 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto model = ParseOnnxModel({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, ".");
    if (!model.ok()) {
      ++refused;
      continue;
    }
    const auto graph = ImportModel(*model, {});
    if (graph.ok()) {
      ++imported;
      ASSERT_TRUE(VerifyGraph(*graph).ok()) << "round " << round << ": " << VerifyGraph(*graph).message();
    } else {
      ++refused;
      ASSERT_NE(graph.status().code(), StatusCode::kInternal) << "round " << round << ": " << graph.status().message();
    }
    ASSERT_TRUE(round > 0 || graph.ok()) << graph.status().message();
  }
  EXPECT_GT(imported, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace npustream::compiler
