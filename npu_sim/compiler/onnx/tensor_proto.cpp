#include "npu_sim/compiler/onnx/tensor_proto.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/onnx/tensor_type.h"

namespace npustream::compiler {
namespace {

using om::DataType;
using Proto = onnx::TensorProto;

Status Corrupt(const Proto& proto, const std::string& what) {
  return {StatusCode::kCorruptData, fmt::format("constant '{}' {}", proto.name(), what)};
}

// The typed fields hold small types widened to 32 bits, hence the narrowing copy.
template <typename T, typename Field>
om::Bytes Narrow(const Field& field) {
  om::Bytes bytes(static_cast<size_t>(field.size()) * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    const T value = static_cast<T>(field.Get(i));
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

om::Bytes TypedContent(const Proto& proto, DataType type) {
  switch (type) {
    case DataType::kFloat32: return Narrow<float>(proto.float_data());
    case DataType::kDouble: return Narrow<double>(proto.double_data());
    case DataType::kInt64: return Narrow<int64_t>(proto.int64_data());
    case DataType::kInt32: return Narrow<int32_t>(proto.int32_data());
    case DataType::kUInt32: return Narrow<uint32_t>(proto.uint64_data());
    case DataType::kUInt64: return Narrow<uint64_t>(proto.uint64_data());
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kInt16:
    case DataType::kUInt16: return Narrow<uint16_t>(proto.int32_data());
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kBool: return Narrow<uint8_t>(proto.int32_data());
  }
  return {};
}

struct ExternalRange {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<ExternalRange> ReadExternalRange(const Proto& proto) {
  ExternalRange range;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") range.file = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    uint64_t number = 0;
    const char* end = entry.value().data() + entry.value().size();
    const auto read = std::from_chars(entry.value().data(), end, number);
    if (read.ptr != end || read.ec != std::errc()) {
      return Corrupt(proto, fmt::format("has the external {} '{}', which is no number of bytes", entry.key(), entry.value()));
    }
    if (entry.key() == "offset") range.offset = number;
    if (entry.key() == "length") range.length = number;
  }
  // The specification allows paths below the model's folder only.
  const std::filesystem::path file(range.file);
  bool leaves_folder = file.empty() || file.is_absolute();
  for (const auto& part : file) leaves_folder = leaves_folder || part == "..";
  if (leaves_folder) return Corrupt(proto, fmt::format("has its data outside the model's folder ('{}')", range.file));
  return range;
}

Result<om::Bytes> ExternalContent(const Proto& proto, ExternalFiles& files, size_t needed) {
  NPUSTREAM_ASSIGN_OR_RETURN(const ExternalRange range, ReadExternalRange(proto));
  const auto file = files.Bytes(range.file);
  if (!file.ok()) return file.status().WithContext(fmt::format("external data of constant '{}'", proto.name()));
  const std::span<const std::byte> bytes = *file;
  const uint64_t length = range.length.value_or(needed);
  if (length != needed || range.offset > bytes.size() || length > bytes.size() - range.offset) {
    return Corrupt(proto, fmt::format("needs {} bytes at offset {} of '{}', which has {}", needed, range.offset,
                                      range.file, bytes.size()));
  }
  const auto part = bytes.subspan(range.offset, length);
  return om::Bytes(part.begin(), part.end());
}

Result<om::Bytes> Content(const Proto& proto, DataType type, ExternalFiles& files, size_t needed) {
  if (proto.data_location() == Proto::EXTERNAL) return ExternalContent(proto, files, needed);
  if (!proto.has_raw_data()) return TypedContent(proto, type);
  const auto* raw = reinterpret_cast<const std::byte*>(proto.raw_data().data());
  return om::Bytes(raw, raw + proto.raw_data().size());
}

}  // namespace

std::optional<DataType> DataTypeFromOnnx(int64_t onnx_type) {
  switch (onnx_type) {
    case Proto::FLOAT: return DataType::kFloat32;
    case Proto::FLOAT16: return DataType::kFloat16;
    case Proto::BFLOAT16: return DataType::kBFloat16;
    case Proto::DOUBLE: return DataType::kDouble;
    case Proto::INT8: return DataType::kInt8;
    case Proto::INT16: return DataType::kInt16;
    case Proto::INT32: return DataType::kInt32;
    case Proto::INT64: return DataType::kInt64;
    case Proto::UINT8: return DataType::kUInt8;
    case Proto::UINT16: return DataType::kUInt16;
    case Proto::UINT32: return DataType::kUInt32;
    case Proto::UINT64: return DataType::kUInt64;
    case Proto::BOOL: return DataType::kBool;
    default: return std::nullopt;
  }
}

std::string OnnxTypeName(int64_t onnx_type) {
  const auto number = static_cast<int>(onnx_type);
  return Proto::DataType_IsValid(number) ? Proto::DataType_Name(static_cast<Proto::DataType>(number))
                                         : fmt::format("{}", onnx_type);
}

Result<std::span<const std::byte>> ExternalFiles::Bytes(const std::string& file) {
  auto found = files_.find(file);
  if (found == files_.end()) {
    NPUSTREAM_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(folder_ / file));
    found = files_.emplace(file, std::move(mapped)).first;
  }
  return found->second.bytes();
}

Result<om::Tensor> ReadTensorProto(const Proto& proto, ExternalFiles& files) {
  const std::optional<DataType> type = DataTypeFromOnnx(proto.data_type());
  if (!type) {
    return Status(StatusCode::kUnsupported, fmt::format("constant '{}' has element type {}, which is not supported",
                                                        proto.name(), OnnxTypeName(proto.data_type())));
  }
  om::Tensor tensor{proto.name(), *type, {proto.dims().begin(), proto.dims().end()}, nullptr};
  if (Status status = CheckDims(tensor.dims, *type); !status.ok()) return Corrupt(proto, status.message());
  NPUSTREAM_ASSIGN_OR_RETURN(om::Bytes content, Content(proto, *type, files, tensor.ByteSize()));
  if (content.size() != tensor.ByteSize()) {
    return Corrupt(proto, fmt::format("holds {} bytes where its shape needs {}", content.size(), tensor.ByteSize()));
  }
  tensor.constant = std::make_shared<const om::Bytes>(std::move(content));
  return tensor;
}

}  // namespace npustream::compiler
