// Reading an ONNX model's inputs and outputs from the JSON that `atc --mode=1` writes.
#include <charconv>
#include <initializer_list>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/serving/atc_compiler.h"

namespace npustream::serving {
namespace {

using nlohmann::json;

// The member by the first of its spellings that is there; an empty object otherwise. JSON's accessors that assert or
// throw are not used, for the text comes from another program.
const json& Member(const json& object, std::initializer_list<const char*> spellings) {
  static const json empty = json::object();
  if (!object.is_object()) return empty;
  for (const char* name : spellings) {
    const auto found = object.find(name);
    if (found != object.end()) return *found;
  }
  return empty;
}

std::string Text(const json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

// protobuf's JSON writes 64-bit numbers as text.
int64_t Dimension(const json& dim) {
  const json& value = Member(dim, {"dim_value", "dimValue"});
  int64_t number = 0;
  if (value.is_number_integer()) {
    number = value.get<int64_t>();
  } else if (value.is_string()) {
    const std::string text = value.get<std::string>();
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number > 0 ? number : -1;
}

OnnxPort Port(const json& value_info) {
  OnnxPort port;
  port.name = Text(Member(value_info, {"name"}));
  const json& tensor = Member(Member(value_info, {"type"}), {"tensor_type", "tensorType"});
  for (const json& dim : Member(Member(tensor, {"shape"}), {"dim"})) port.dims.push_back(Dimension(dim));
  return port;
}

}  // namespace

Result<OnnxInterface> ParseOnnxJson(const std::string& text) {
  const json model = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const json& graph = Member(model, {"graph"});
  std::set<std::string> weights;
  for (const json& tensor : Member(graph, {"initializer"})) weights.insert(Text(Member(tensor, {"name"})));

  OnnxInterface interface;
  for (const json& input : Member(graph, {"input"})) {
    OnnxPort port = Port(input);
    if (!weights.contains(port.name)) interface.inputs.push_back(std::move(port));
  }
  for (const json& output : Member(graph, {"output"})) interface.outputs.push_back(Port(output));
  if (interface.inputs.empty() || interface.outputs.empty()) {
    return Status(StatusCode::kCorruptData, "atc's JSON form of the model names no inputs or no outputs");
  }
  return interface;
}

}  // namespace npustream::serving
