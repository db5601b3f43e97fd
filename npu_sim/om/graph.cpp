#include "npu_sim/om/graph.h"

namespace npustream::om {
namespace {

template <typename T>
T Get(const Node& node, const std::string& name, const T& otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : otherwise;
}

}  // namespace

size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kBool: return 1;
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kInt16:
    case DataType::kUInt16: return 2;
    case DataType::kFloat32:
    case DataType::kInt32:
    case DataType::kUInt32: return 4;
    case DataType::kInt64:
    case DataType::kUInt64:
    case DataType::kDouble: return 8;
  }
  return 0;
}

const char* ToString(DataType type) {
  switch (type) {
    case DataType::kFloat32: return "float32";
    case DataType::kFloat16: return "float16";
    case DataType::kInt8: return "int8";
    case DataType::kInt32: return "int32";
    case DataType::kUInt8: return "uint8";
    case DataType::kInt16: return "int16";
    case DataType::kUInt16: return "uint16";
    case DataType::kUInt32: return "uint32";
    case DataType::kInt64: return "int64";
    case DataType::kUInt64: return "uint64";
    case DataType::kDouble: return "double";
    case DataType::kBool: return "bool";
    case DataType::kBFloat16: return "bfloat16";
  }
  return "unknown";
}

int64_t ElementCount(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

int64_t GetInt(const Node& node, const std::string& name, int64_t otherwise) { return Get(node, name, otherwise); }

float GetFloat(const Node& node, const std::string& name, float otherwise) { return Get(node, name, otherwise); }

std::string GetString(const Node& node, const std::string& name, const std::string& otherwise) {
  return Get(node, name, otherwise);
}

std::vector<int64_t> GetInts(const Node& node, const std::string& name, const std::vector<int64_t>& otherwise) {
  return Get(node, name, otherwise);
}

std::vector<float> GetFloats(const Node& node, const std::string& name, const std::vector<float>& otherwise) {
  return Get(node, name, otherwise);
}

}  // namespace npustream::om
