#include "npu_sim/extension/custom_operator.h"

#include <algorithm>

#include <fmt/format.h>

namespace npustream::extension {
namespace {

const om::Node& NodeOf(const void* handle) { return *static_cast<const om::Node*>(handle); }

const char* GetString(const void* handle, const char* name, const char* otherwise) {
  const auto found = NodeOf(handle).attributes.find(name);
  if (found == NodeOf(handle).attributes.end()) return otherwise;
  const auto* text = std::get_if<std::string>(&found->second);
  return text ? text->c_str() : otherwise;
}

template <typename T>
size_t CopyList(const void* handle, const char* name, T* values, size_t capacity) {
  const auto found = NodeOf(handle).attributes.find(name);
  if (found == NodeOf(handle).attributes.end()) return 0;
  const auto* list = std::get_if<std::vector<T>>(&found->second);
  if (!list) return 0;
  std::copy_n(list->begin(), std::min(capacity, list->size()), values);
  return list->size();
}

}  // namespace

NpustreamAttributes AttributesOf(const om::Node& node) {
  return {&node,
          [](const void* handle, const char* name, int64_t otherwise) {
            return om::GetInt(NodeOf(handle), name, otherwise);
          },
          [](const void* handle, const char* name, float otherwise) {
            return om::GetFloat(NodeOf(handle), name, otherwise);
          },
          GetString, CopyList<int64_t>, CopyList<float>};
}

Result<NpustreamTensor> TensorOf(const char* name, om::DataType type, const om::Dims& dims, const void* data) {
  if (dims.size() > NPUSTREAM_EXTENSION_MAX_RANK)
    return Status(StatusCode::kUnsupported, fmt::format("'{}' has {} dimensions; custom operators take {}", name,
                                                        dims.size(), NPUSTREAM_EXTENSION_MAX_RANK));
  NpustreamTensor tensor = {name, static_cast<int32_t>(type), static_cast<int32_t>(dims.size()), {}, data};
  std::copy(dims.begin(), dims.end(), tensor.dims);
  return tensor;
}

NpustreamTensor AbsentTensor() { return {"", 0, -1, {}, nullptr}; }

Result<std::vector<Inferred>> Infer(const NpustreamOperator& op, const om::Node& node,
                                    std::span<const NpustreamTensor> inputs) {
  const auto refuse = [&](std::string_view what) {
    return Status(StatusCode::kInvalidArgument, fmt::format("operator {}.{}: {}", op.domain, op.type, what));
  };
  const auto count = static_cast<int32_t>(inputs.size());
  if (count < op.min_inputs || count > op.max_inputs) return refuse(fmt::format("it has {} inputs", count));
  std::vector<NpustreamTensor> outputs(static_cast<size_t>(op.outputs), AbsentTensor());
  const NpustreamAttributes attributes = AttributesOf(node);
  if (const char* sentence = op.infer(&attributes, inputs.data(), count, outputs.data())) return refuse(sentence);
  std::vector<Inferred> results;
  for (const NpustreamTensor& output : outputs) {
    const auto type = static_cast<om::DataType>(output.type);
    if (output.rank < 0 || output.rank > NPUSTREAM_EXTENSION_MAX_RANK || om::SizeOf(type) == 0)
      return refuse("it did not say what an output is");
    om::Dims dims(output.dims, output.dims + output.rank);
    if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0 || dim > INT32_MAX; }))
      return refuse("an output has an impossible dimension");
    results.push_back({type, std::move(dims)});
  }
  return results;
}

}  // namespace npustream::extension
