#include "tests/runtime/acl/test_models.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "npu_sim/om/om_writer.h"
#include "tests/support/temporary_folder.h"

namespace npustream::acl_test {
namespace {

om::Tensor Constant(const std::string& name, const om::Dims& dims, const std::vector<float>& values) {
  auto bytes = std::make_shared<om::Bytes>(values.size() * sizeof(float));
  std::memcpy(bytes->data(), values.data(), bytes->size());
  return {name, om::DataType::kFloat32, dims, std::move(bytes)};
}

om::Graph AddReluGraph() {
  om::Graph graph;
  graph.tensors = {{"x", om::DataType::kFloat32, {1, 4}, nullptr},
                   Constant("c", {1, 4}, {0.5f, -1, 2, 0}),
                   {"sum", om::DataType::kFloat32, {1, 4}, nullptr},
                   {"y", om::DataType::kFloat32, {1, 4}, nullptr}};
  graph.nodes = {{"add", "Add", {0, 1}, {2}, {}}, {"relu", "Relu", {2}, {3}, {}}};
  graph.inputs = {0};
  graph.outputs = {3};
  return graph;
}

om::OmModel AddRelu(int64_t batch, std::vector<int64_t> gears, const std::string& soc) {
  om::OmModel model;
  model.info.toolkit_version = "0.1.0";
  model.info.soc = soc;
  model.info.name = "add_relu";
  model.info.inputs = {{"x", om::DataType::kFloat32, {batch, 4}, om::Format::kNd}};
  model.info.outputs = {{"y", om::DataType::kFloat32, {batch, 4}, om::Format::kNd}};
  model.info.gears = std::move(gears);
  model.info.dynamic_batch = batch < 0;
  model.plans = {{1, true, AddReluGraph(), {}}};
  return model;
}

std::string Write(const std::string& name, const om::OmModel& model) {
  const auto bytes = om::WriteOm(model);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  if (!bytes.ok()) return "";
  const char* begin = reinterpret_cast<const char*>(bytes->data());
  return WriteBytes(name, std::vector<char>(begin, begin + bytes->size()));
}

}  // namespace

std::string WriteAddRelu(const std::string& soc) { return Write("add_relu_" + soc + ".om", AddRelu(1, {1}, soc)); }

std::string WriteDynamicAddRelu() { return Write("add_relu_dynamic.om", AddRelu(-1, {1, 2, 4}, "Ascend310P3")); }

std::string WriteAippModel() {
  om::AippConfig aipp;
  aipp.input_format = "YUV420SP_U8";
  aipp.src_image_size_w = 32;
  aipp.src_image_size_h = 16;
  aipp.min_chn = {0, 0, 3, 0};
  aipp.var_reci_chn = {0.5f, 0.5f, 0.5f, 1};
  om::OmModel model;
  model.info.toolkit_version = "0.1.0";
  model.info.soc = "Ascend310P3";
  model.info.name = "aipp";
  const om::Dims picture = om::AippInputDims(aipp, 1);
  model.info.inputs = {{"picture", om::DataType::kUInt8, picture, om::Format::kNhwc}};
  model.info.outputs = {{"tensor", om::DataType::kFloat32, {1, 3, 16, 32}, om::Format::kNchw}};
  model.info.gears = {1};
  model.info.aipp = {aipp};
  om::Graph graph;
  graph.tensors = {{"picture", om::DataType::kUInt8, picture, nullptr},
                   {"tensor", om::DataType::kFloat32, {1, 3, 16, 32}, nullptr}};
  graph.nodes = {{"aipp", "Aipp", {0}, {1}, om::ToAttributes(aipp)}};
  graph.inputs = {0};
  graph.outputs = {1};
  model.plans = {{1, true, graph, {}}};
  return Write("aipp.om", model);
}

std::string WriteBytes(const std::string& name, const std::vector<char>& bytes) {
  // Of this process alone: ctest runs several at once, and a mapped file must not change.
  static const testing_support::TemporaryFolder folder;
  const std::string path = folder / name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::vector<char> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

DeviceDataset::DeviceDataset(const std::vector<size_t>& bytes) : dataset_(aclmdlCreateDataset()) {
  for (const size_t size : bytes) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    memory_.push_back(memory);
    EXPECT_EQ(aclmdlAddDatasetBuffer(dataset_, aclCreateDataBuffer(memory, size)), ACL_SUCCESS);
  }
}

DeviceDataset::~DeviceDataset() {
  for (size_t index = 0; index < aclmdlGetDatasetNumBuffers(dataset_); ++index) {
    aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset_, index));
  }
  aclmdlDestroyDataset(dataset_);
  for (void* memory : memory_) aclrtFree(memory);
}

void DeviceDataset::Write(size_t index, const std::vector<float>& values) const {
  const size_t bytes = values.size() * sizeof(float);
  EXPECT_EQ(aclrtMemcpy(memory_[index], bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

std::vector<float> DeviceDataset::Read(size_t index, size_t count) const {
  std::vector<float> values(count);
  const size_t bytes = count * sizeof(float);
  EXPECT_EQ(aclrtMemcpy(values.data(), bytes, memory_[index], bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return values;
}

}  // namespace npustream::acl_test
