#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

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

}  // namespace
}  // namespace npustream::compiler
