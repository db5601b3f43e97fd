#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include "base/file.h"
#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "tests/support/temporary_folder.h"

namespace npustream::compiler {
namespace {

using testing::HasSubstr;

Result<OnnxModel> Parse(const std::string& text, const std::filesystem::path& folder = ".") {
  return ParseOnnxModel({reinterpret_cast<const std::byte*>(text.data()), text.size()}, folder);
}

// x · w with w as an initializer that is listed as an input too, as old exporters do.
onnx::ModelProto SmallModel() {
  onnx::ModelProto model;
  model.set_ir_version(6);
  auto* opset = model.add_opset_import();
  opset->set_version(11);
  auto* graph = model.mutable_graph();
  for (const char* name : {"x", "w"}) {
    auto* input = graph->add_input();
    input->set_name(name);
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(2);
  }
  graph->add_output()->set_name("y");
  auto* weights = graph->add_initializer();
  weights->set_name("w");
  weights->set_data_type(onnx::TensorProto::FLOAT);
  weights->add_dims(2);
  weights->add_float_data(1.5f);
  weights->add_float_data(-2);
  auto* node = graph->add_node();
  node->set_op_type("Mul");
  node->add_input("x");
  node->add_input("w");
  node->add_output("y");
  return model;
}

TEST(ReadModelTest, InitializersAreNoInputsAndNodesGetNames) {
  const auto model = Parse(SmallModel().SerializeAsString());
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->graph.inputs.size(), 1u);
  EXPECT_EQ(model->graph.inputs[0].name, "x");
  EXPECT_EQ(model->opset, 11);
  EXPECT_EQ(model->graph.nodes[0].name, "Mul_0");
  EXPECT_THAT(*ReadFloats(model->graph.initializers.at("w")), testing::ElementsAre(1.5f, -2.0f));
}

TEST(ReadModelTest, SmallTypesComeFromRawBytesAndFromWidenedFields) {
  onnx::ModelProto proto = SmallModel();
  auto* half = proto.mutable_graph()->add_initializer();
  half->set_name("half");
  half->set_data_type(onnx::TensorProto::FLOAT16);
  half->add_dims(2);
  half->add_int32_data(0x3c00);  // 1
  half->add_int32_data(0xc100);  // −2.5
  auto* bytes = proto.mutable_graph()->add_initializer();
  bytes->set_name("bytes");
  bytes->set_data_type(onnx::TensorProto::INT8);
  bytes->add_dims(2);
  bytes->set_raw_data(std::string("\x05\xff", 2));
  const auto model = Parse(proto.SerializeAsString());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(*ReadFloats(model->graph.initializers.at("half")), testing::ElementsAre(1.0f, -2.5f));
  EXPECT_THAT(*ReadInts(model->graph.initializers.at("bytes")), testing::ElementsAre(5, -1));
}

TEST(ReadModelTest, ExternalDataIsReadFromBesideTheModel) {
  const testing_support::TemporaryFolder folder;
  const float values[3] = {9, 1.5f, -2};
  const std::string content(reinterpret_cast<const char*>(values), sizeof values);
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "weights.bin", std::string_view(content)).ok());
  onnx::ModelProto proto = SmallModel();
  auto* weights = proto.mutable_graph()->mutable_initializer(0);
  weights->clear_float_data();
  weights->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto set = [&](const char* key, const char* value) {
    auto* entry = weights->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  set("location", "weights.bin");
  set("offset", "4");
  const auto model = Parse(proto.SerializeAsString(), folder.path());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(*ReadFloats(model->graph.initializers.at("w")), testing::ElementsAre(1.5f, -2.0f));

  weights->mutable_external_data(1)->set_value("8");
  EXPECT_THAT(Parse(proto.SerializeAsString(), folder.path()).status().message(),
              HasSubstr("needs 8 bytes at offset 8 of 'weights.bin', which has 12"));
  for (const char* number : {"-1", "", "4x", "99999999999999999999"}) {
    weights->mutable_external_data(1)->set_value(number);
    EXPECT_THAT(Parse(proto.SerializeAsString(), folder.path()).status().message(), HasSubstr("is no number of bytes"));
  }
  weights->mutable_external_data(1)->set_value("4");
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  weights->mutable_external_data(0)->set_value("pipe");
  EXPECT_THAT(Parse(proto.SerializeAsString(), folder.path()).status().message(), HasSubstr("not a regular file"));
  weights->mutable_external_data(0)->set_value("../weights.bin");
  EXPECT_THAT(Parse(proto.SerializeAsString(), folder.path()).status().message(),
              HasSubstr("outside the model's folder"));
  weights->mutable_external_data(0)->set_value("absent.bin");
  EXPECT_EQ(Parse(proto.SerializeAsString(), folder.path()).status().code(), StatusCode::kNotFound);
}

TEST(ReadModelTest, BytesOfOtherKindsAreRefused) {
  EXPECT_THAT(Parse("").status().message(), HasSubstr("not an ONNX model: the file is empty"));
  EXPECT_THAT(Parse("This is a text, not a network.\n").status().message(), HasSubstr("not an ONNX model"));
  EXPECT_THAT(Parse(std::string("GGUF\x03\0\0\0\0\0", 10)).status().message(), HasSubstr("not an ONNX model"));
  EXPECT_EQ(Parse("abc").status().code(), StatusCode::kCorruptData);
}

TEST(ReadModelTest, EveryTruncationIsRefusedOrReadsLess) {
  const std::string whole = SmallModel().SerializeAsString();
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto model = Parse(whole.substr(0, length));
    EXPECT_TRUE(model.ok() || !model.status().message().empty());
  }
}

TEST(ReadModelTest, ConstantsOfTheWrongSizeAndKindAreRefused) {
  onnx::ModelProto proto = SmallModel();
  auto* weights = proto.mutable_graph()->mutable_initializer(0);
  weights->set_dims(0, 3);
  EXPECT_THAT(Parse(proto.SerializeAsString()).status().message(),
              HasSubstr("constant 'w' holds 8 bytes where its shape needs 12"));
  weights->set_dims(0, -2);
  EXPECT_THAT(Parse(proto.SerializeAsString()).status().message(), HasSubstr("negative dimension"));
  weights->set_dims(0, int64_t{1} << 62);
  EXPECT_THAT(Parse(proto.SerializeAsString()).status().message(), HasSubstr("larger than any tensor"));
  weights->set_dims(0, 2);
  weights->set_data_type(onnx::TensorProto::STRING);
  EXPECT_EQ(Parse(proto.SerializeAsString()).status().code(), StatusCode::kUnsupported);
}

TEST(ReadModelTest, AModelWithoutGraphOrOperatorSetIsRefused) {
  onnx::ModelProto proto = SmallModel();
  proto.clear_opset_import();
  EXPECT_THAT(Parse(proto.SerializeAsString()).status().message(), HasSubstr("names no operator set"));
  proto = SmallModel();
  proto.clear_graph();
  EXPECT_THAT(Parse(proto.SerializeAsString()).status().message(), HasSubstr("it has no graph"));
}

TEST(ReadModelTest, AnAbsentFileIsNamed) {
  const auto model = ReadOnnxModel("/nowhere/model.onnx");
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(model.status().message(), HasSubstr("/nowhere/model.onnx"));
}

// A function a → sigmoid(a) · a, one of LeakyRelu with the caller's slope that calls it, and a call of the latter.
onnx::ModelProto ModelOfFunctions() {
  onnx::ModelProto model = SmallModel();
  auto* own = model.add_opset_import();
  own->set_domain("own");
  own->set_version(1);
  const auto add_node = [](auto* to, const char* op, std::initializer_list<const char*> inputs, const char* output) {
    auto* node = to->add_node();
    node->set_op_type(op);
    for (const char* input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  };
  const auto add_function = [&](const char* name) {
    auto* function = model.add_functions();
    function->set_domain("own");
    function->set_name(name);
    function->add_input("a");
    function->add_output("b");
    function->add_opset_import()->set_version(11);
    return function;
  };
  auto* swish = add_function("Swish");
  add_node(swish, "Sigmoid", {"a"}, "s");
  add_node(swish, "Mul", {"s", "a"}, "b");
  auto* leaky = add_function("Leaky");
  auto* slope = add_node(leaky, "LeakyRelu", {"a"}, "s")->add_attribute();
  slope->set_name("alpha");
  slope->set_type(onnx::AttributeProto::FLOAT);
  slope->set_ref_attr_name("slope");
  add_node(leaky, "Swish", {"s"}, "b")->set_domain("own");
  auto* call = add_node(model.mutable_graph(), "Leaky", {"y"}, "z");
  call->set_domain("own");
  auto* given = call->add_attribute();
  given->set_name("slope");
  given->set_type(onnx::AttributeProto::FLOAT);
  given->set_f(0.25f);
  return model;
}

TEST(ReadModelTest, CallsOfFunctionsBecomeTheirNodes) {
  const auto model = Parse(ModelOfFunctions().SerializeAsString());
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto& nodes = model->graph.nodes;
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[1].op, "LeakyRelu");
  EXPECT_EQ(std::get<float>(nodes[1].attributes.at("alpha")), 0.25f);
  EXPECT_EQ(nodes[1].inputs[0], "y");
  EXPECT_EQ(nodes[2].op, "Sigmoid");
  EXPECT_EQ(nodes[2].inputs, nodes[1].outputs);
  EXPECT_EQ(nodes[3].op, "Mul");
  EXPECT_THAT(nodes[3].inputs, testing::ElementsAre(nodes[2].outputs[0], nodes[1].outputs[0]));
  EXPECT_EQ(nodes[3].outputs[0], "z");
  EXPECT_NE(nodes[1].outputs, nodes[2].outputs);  // both are called s where they are written
}

TEST(ReadModelTest, AnAttributeThatTheCallerLeavesOutHasItsDefault) {
  onnx::ModelProto proto = ModelOfFunctions();
  proto.mutable_graph()->mutable_node(1)->clear_attribute();
  EXPECT_EQ(Parse(proto.SerializeAsString())->graph.nodes[1].attributes.count("alpha"), 0u);
  // FunctionProto.attribute_proto, which older protobuf classes do not have.
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.5f);
  onnx::FunctionProto& leaky = *proto.mutable_functions(1);
  std::string field = "\x5a";  // field 11, length-delimited
  field += static_cast<char>(slope.ByteSizeLong());
  ASSERT_TRUE(leaky.MergeFromString(field + slope.SerializeAsString()));
  const auto model = Parse(proto.SerializeAsString());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(std::get<float>(model->graph.nodes[1].attributes.at("alpha")), 0.5f);
}

TEST(ReadModelTest, FunctionsWithoutEndAreRefused) {
  onnx::ModelProto itself = ModelOfFunctions();
  itself.mutable_functions(1)->mutable_node(1)->set_op_type("Leaky");
  EXPECT_THAT(Parse(itself.SerializeAsString()).status().message(), HasSubstr("nested too deeply"));
  // Each of thirty functions calls the next one eight times.
  onnx::ModelProto bomb = ModelOfFunctions();
  for (int level = 0; level < 30; ++level) {
    auto* function = bomb.add_functions();
    function->set_domain("own");
    function->set_name("f" + std::to_string(level));
    for (int i = 0; i < 8; ++i) {
      auto* node = function->add_node();
      node->set_domain("own");
      node->set_op_type("f" + std::to_string(level + 1));
    }
  }
  bomb.mutable_graph()->mutable_node(1)->set_op_type("f0");
  EXPECT_THAT(Parse(bomb.SerializeAsString()).status().message(), HasSubstr("would fill memory"));
  onnx::ModelProto newer = ModelOfFunctions();
  newer.mutable_functions(0)->mutable_opset_import(0)->set_version(18);
  EXPECT_THAT(Parse(newer.SerializeAsString()).status().message(),
              HasSubstr("function 'Swish' uses operator set 18, the model 11"));
}

}  // namespace
}  // namespace npustream::compiler
