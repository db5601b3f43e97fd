#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace npustream::om {

// Element types; the numbers are those of AscendCL's aclDataType, so that the runtime passes them on as they are.
enum class DataType : int8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt8 = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 6,
  kUInt16 = 7,
  kUInt32 = 8,
  kInt64 = 9,
  kUInt64 = 10,
  kDouble = 11,
  kBool = 12,
  kBFloat16 = 27,
};

size_t SizeOf(DataType type);
const char* ToString(DataType type);

using Dims = std::vector<int64_t>;

// Product of the dimensions; 1 for a scalar.
int64_t ElementCount(const Dims& dims);

using Bytes = std::vector<std::byte>;

// How integers stand for real numbers: real = (integer − zero point) · scale, with one pair for the whole tensor, or one
// per index of `axis`.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;  // as many
  int32_t axis = 0;                  // meant only when there are several

  bool IsPerTensor() const { return scales.size() == 1; }
  bool operator==(const Quantization&) const = default;
};

// A value that flows through a graph. Dims are always known and non-negative; the layout is the plain row-major one
// (NCHW for images).
struct Tensor {
  std::string name;
  DataType type = DataType::kFloat32;
  Dims dims;
  // The content of a constant; null for everything that is computed. Shared, because passes copy graphs but never
  // change a constant in place.
  std::shared_ptr<const Bytes> constant;
  // Integers that stand for real numbers; null for those that are meant as they are.
  std::shared_ptr<const Quantization> quantization = nullptr;

  bool is_constant() const { return constant != nullptr; }
  size_t ByteSize() const { return static_cast<size_t>(ElementCount(dims)) * SizeOf(type); }
};

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>>;
using Attributes = std::map<std::string, Attribute>;

// Index of a tensor in Graph::tensors; kNoTensor stands for an optional input that was left out.
using TensorId = int32_t;
inline constexpr TensorId kNoTensor = -1;

// One operator. `op` is the ONNX operator's name and its meaning that of the newest opset, with what the importer makes
// of it listed in npu_sim/om/README.md (constant second inputs become attributes, fusion adds some).
struct Node {
  std::string name;
  std::string op;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  Attributes attributes;
};

// A model with static shapes for one batch size. Nodes stand in an order in which they can run; each tensor is written
// by at most one node.
struct Graph {
  std::deque<Tensor> tensors;  // importers and passes hold on to some while they add others: they stay where they are
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
};

// Typed reading of attributes, with a default for the ones that are absent or of another type.
int64_t GetInt(const Node& node, const std::string& name, int64_t otherwise);
float GetFloat(const Node& node, const std::string& name, float otherwise);
std::string GetString(const Node& node, const std::string& name, const std::string& otherwise);
std::vector<int64_t> GetInts(const Node& node, const std::string& name, const std::vector<int64_t>& otherwise = {});
std::vector<float> GetFloats(const Node& node, const std::string& name, const std::vector<float>& otherwise = {});

}  // namespace npustream::om
