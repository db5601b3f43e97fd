// Offline models against the ONNX models that they are, or are not, made from.
#include "apps/npustream/compare_models.h"

#include <cmath>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "apps/npustream/npy_file.h"
#include "npu_sim/compiler/compile.h"
#include "npu_sim/om/om_writer.h"
#include "tests/support/temporary_folder.h"

namespace npustream::apps {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;

onnx::ValueInfoProto Port(const std::string& name, const om::Dims& dims) {
  onnx::ValueInfoProto port;
  port.set_name(name);
  auto* tensor = port.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
  return port;
}

class Net {
 public:
  Net() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    *model_.mutable_graph()->add_input() = Port("x", {1, 3, 8, 8});
  }
  void Weights(const std::string& name, const om::Dims& dims, float scale) {
    auto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t dim : dims) tensor->add_dims(dim);
    for (int64_t i = 0; i < om::ElementCount(dims); ++i)
      tensor->add_float_data(scale * std::sin(static_cast<float>(i) * 1.7f));
  }
  void Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    auto* node = model_.mutable_graph()->add_node();
    node->set_op_type(op);
    node->set_name("node" + output);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
  }
  void Save(const fs::path& path, const om::Dims& result) {
    *model_.mutable_graph()->add_output() = Port(model_.graph().node(model_.graph().node_size() - 1).output(0), result);
    std::ofstream file(path, std::ios::binary);
    ASSERT_TRUE(model_.SerializeToOstream(&file));
  }

 private:
  onnx::ModelProto model_;
};

// Three convolutions; the weights of the second are multiplied by `middle`.
void SaveNet(const fs::path& path, float middle) {
  Net net;
  net.Weights("w1", {16, 3, 1, 1}, 0.4f);
  net.Weights("w2", {16, 16, 1, 1}, 0.2f * middle);
  net.Weights("w3", {24, 16, 1, 1}, 0.2f);
  net.Node("Conv", {"x", "w1"}, "/stem/conv");
  net.Node("Relu", {"/stem/conv"}, "/stem/relu");
  net.Node("Conv", {"/stem/relu", "w2"}, "/body/conv");
  net.Node("Sigmoid", {"/body/conv"}, "/body/sigmoid");
  net.Node("Conv", {"/body/sigmoid", "w3"}, "/head:0");
  net.Save(path, {1, 24, 8, 8});
}

void CompileTo(const fs::path& onnx, const fs::path& om) {
  const auto model = compiler::ReadOnnxModel(onnx);
  ASSERT_TRUE(model.ok()) << model.status().message();
  compiler::CompileOptions options;
  options.soc = "Ascend310P3";
  const auto compiled = compiler::Compile(*model, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const auto bytes = om::WriteOm(*compiled);
  ASSERT_TRUE(bytes.ok());
  std::ofstream(om, std::ios::binary).write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
}

class CompareTest : public testing::Test {
 protected:
  void SetUp() override {
    SaveNet(folder_ / "a.onnx", 1);
    SaveNet(folder_ / "b.onnx", 1.2f);
    CompileTo(folder_ / "a.onnx", folder_ / "a.om");
    CompileTo(folder_ / "b.onnx", folder_ / "b.om");
    x_.resize(3 * 8 * 8 * sizeof(float));
    for (size_t i = 0; i < x_.size() / sizeof(float); ++i)
      reinterpret_cast<float*>(x_.data())[i] = std::cos(static_cast<float>(i));
  }
  ModelComparison Compare(const char* om, const fs::path& dump = {}) {
    const auto pair = ModelPair::Load(folder_ / "a.onnx", folder_ / om);
    EXPECT_TRUE(pair.ok()) << pair.status().message();
    const auto result = pair->Compare({x_}, dump);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return *result;
  }

  testing_support::TemporaryFolder folder_;
  om::Bytes x_;
};

TEST_F(CompareTest, AModelIsEqualToItself) {
  const ModelComparison comparison = Compare("a.om");
  EXPECT_EQ(comparison.FirstOver(1e-5), nullptr);
  EXPECT_TRUE(comparison.OutputsWithin(1e-5));
  ASSERT_FALSE(comparison.tensors.empty());
  EXPECT_TRUE(comparison.tensors.back().is_output);
  EXPECT_EQ(comparison.tensors.back().tensor, "/head:0");
  // Both activations are done by their convolutions.
  EXPECT_THAT(comparison.gone, ElementsAre("/body/conv", "/stem/conv"));
}

TEST_F(CompareTest, TheFirstLayerThatIsWrongIsNamed) {
  const ModelComparison comparison = Compare("b.om");
  const TensorComparison* first = comparison.FirstOver(1e-3);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, "/body/sigmoid");
  EXPECT_LT(first->cosine, 1);
  EXPECT_GT(first->max_error, first->mean_error);
  EXPECT_FALSE(comparison.OutputsWithin(1e-3));
}

TEST_F(CompareTest, TensorsAreWrittenForNumPy) {
  fs::create_directory(folder_ / "dump");
  Compare("b.om", folder_ / "dump");
  const auto left = ReadNpy(folder_ / "dump" / "onnx__body_sigmoid.npy"), right = ReadNpy(folder_ / "dump" / "om__body_sigmoid.npy");
  ASSERT_TRUE(left.ok()) << left.status().message();
  ASSERT_TRUE(right.ok()) << right.status().message();
  EXPECT_EQ(left->dims, (om::Dims{1, 16, 8, 8}));
  EXPECT_NE(left->content, right->content);
}

TEST_F(CompareTest, AModelOfOtherInputsIsRefused) {
  Net net;
  net.Node("Relu", {"x"}, "y");
  net.Save(folder_ / "c.onnx", {1, 3, 8, 8});
  const auto pair = ModelPair::Load(folder_ / "c.onnx", folder_ / "a.om");
  ASSERT_FALSE(pair.ok());
  EXPECT_THAT(pair.status().message(), testing::HasSubstr("/head:0"));
}

TEST(NpyTest, WhatIsWrittenIsRead) {
  const testing_support::TemporaryFolder folder;
  const NpyArray array{om::DataType::kInt16, {2, 3}, om::Bytes(12, std::byte{7})};
  ASSERT_TRUE(WriteNpy(folder / "a.npy", array).ok());
  const auto read = ReadNpy(folder / "a.npy");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->type, array.type);
  EXPECT_EQ(read->dims, array.dims);
  EXPECT_EQ(read->content, array.content);
  // NumPy's own words for the header, whose length is a multiple of 64 with what comes before.
  std::ifstream file(folder / "a.npy", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text.substr(10, 59), "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3, ),");
  EXPECT_EQ((text.size() - 12) % 64, 0u);
}

TEST(NpyTest, OtherFilesAreRefused) {
  const testing_support::TemporaryFolder folder;
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n";
  std::string good("\x93NUMPY\x01\x00", 8);
  good += {static_cast<char>(header.size()), '\0'};
  good += header;
  const auto refused = [&](std::string text) {
    std::ofstream(folder / "x.npy", std::ios::binary) << text;
    return !ReadNpy(folder / "x.npy").ok();
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("hello, this is a text"));
  EXPECT_TRUE(refused(good));
  EXPECT_TRUE(refused(good + std::string(15, '\0')));
  EXPECT_FALSE(refused(good + std::string(16, '\0')));
  std::string fortran = good + std::string(16, '\0');
  fortran.replace(fortran.find("False,"), 6, "True, ");
  EXPECT_TRUE(refused(fortran));
}

}  // namespace
}  // namespace npustream::apps
