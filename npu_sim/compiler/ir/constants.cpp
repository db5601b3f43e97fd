#include "npu_sim/compiler/ir/constants.h"

#include <cassert>
#include <cstring>

#include "npu_sim/om/float16.h"

namespace npustream::compiler {
namespace {

using om::DataType;

template <typename T>
om::Tensor Make(std::string name, om::Dims dims, std::span<const T> values, DataType type) {
  assert(om::ElementCount(dims) == static_cast<int64_t>(values.size()));
  auto content = std::make_shared<om::Bytes>(values.size_bytes());
  if (!values.empty()) std::memcpy(content->data(), values.data(), values.size_bytes());
  return {std::move(name), type, std::move(dims), std::move(content)};
}

template <typename T, typename Out, typename Convert>
std::vector<Out> Widen(const om::Tensor& tensor, Convert convert) {
  std::vector<Out> values(static_cast<size_t>(om::ElementCount(tensor.dims)));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, tensor.constant->data() + i * sizeof(T), sizeof(T));
    values[i] = convert(value);
  }
  return values;
}

template <typename T, typename Out>
std::vector<Out> Widen(const om::Tensor& tensor) {
  return Widen<T, Out>(tensor, [](T value) { return static_cast<Out>(value); });
}

Status NotReadable(const om::Tensor& tensor, const char* what) {
  return {StatusCode::kInvalidArgument,
          "'" + tensor.name + "' is not a constant of " + what + " (it is " + om::ToString(tensor.type) + ")"};
}

}  // namespace

om::Tensor MakeFloats(std::string name, om::Dims dims, std::span<const float> values) {
  return Make(std::move(name), std::move(dims), values, DataType::kFloat32);
}

om::Tensor MakeInts(std::string name, om::Dims dims, std::span<const int64_t> values) {
  return Make(std::move(name), std::move(dims), values, DataType::kInt64);
}

om::Tensor ZeroOf(om::DataType type, std::string name) {
  return {std::move(name), type, {}, std::make_shared<const om::Bytes>(om::SizeOf(type))};
}

Result<std::vector<int64_t>> ReadInts(const om::Tensor& tensor) {
  if (!tensor.is_constant()) return NotReadable(tensor, "integers");
  switch (tensor.type) {
    case DataType::kInt64: return Widen<int64_t, int64_t>(tensor);
    case DataType::kInt32: return Widen<int32_t, int64_t>(tensor);
    case DataType::kInt16: return Widen<int16_t, int64_t>(tensor);
    case DataType::kInt8: return Widen<int8_t, int64_t>(tensor);
    case DataType::kUInt64: return Widen<uint64_t, int64_t>(tensor);
    case DataType::kUInt32: return Widen<uint32_t, int64_t>(tensor);
    case DataType::kUInt16: return Widen<uint16_t, int64_t>(tensor);
    case DataType::kUInt8:
    case DataType::kBool: return Widen<uint8_t, int64_t>(tensor);
    default: return NotReadable(tensor, "integers");
  }
}

Result<std::vector<float>> ReadFloats(const om::Tensor& tensor) {
  if (!tensor.is_constant()) return NotReadable(tensor, "numbers");
  switch (tensor.type) {
    case DataType::kFloat32: return Widen<float, float>(tensor);
    case DataType::kDouble: return Widen<double, float>(tensor);
    case DataType::kFloat16: return Widen<uint16_t, float>(tensor, om::FromHalf);
    case DataType::kBFloat16: return Widen<uint16_t, float>(tensor, om::FromBFloat16);
    default: break;
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, ReadInts(tensor));
  return std::vector<float>(ints.begin(), ints.end());
}

std::span<const float> FloatView(const om::Tensor& tensor) {
  if (!tensor.is_constant() || tensor.type != DataType::kFloat32) return {};
  return {reinterpret_cast<const float*>(tensor.constant->data()), tensor.constant->size() / sizeof(float)};
}

}  // namespace npustream::compiler
