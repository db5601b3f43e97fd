#include "apps/atc/model_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/atc/convert.h"
#include "base/file.h"
#include "npu_sim/om/om_reader.h"

namespace npustream::atc {
namespace {

using nlohmann::json;

// TensorProto.DataType's numbers.
int OnnxTypeNumber(om::DataType type) {
  switch (type) {
    case om::DataType::kFloat32: return 1;
    case om::DataType::kUInt8: return 2;
    case om::DataType::kInt8: return 3;
    case om::DataType::kUInt16: return 4;
    case om::DataType::kInt16: return 5;
    case om::DataType::kInt32: return 6;
    case om::DataType::kInt64: return 7;
    case om::DataType::kBool: return 9;
    case om::DataType::kFloat16: return 10;
    case om::DataType::kDouble: return 11;
    case om::DataType::kUInt32: return 12;
    case om::DataType::kUInt64: return 13;
    case om::DataType::kBFloat16: return 16;
  }
  return 0;
}

json ToJson(const compiler::OnnxValue& value) {
  json dims = json::array(), shape = json::array();
  for (const compiler::OnnxDim& dim : value.dims) {
    shape.push_back(dim.size);
    // Protobuf's JSON writes 64-bit numbers as text.
    dims.push_back(dim.size >= 0 ? json{{"dimValue", std::to_string(dim.size)}} : json{{"dimParam", dim.symbol}});
  }
  const json tensor_type = {{"elemType", OnnxTypeNumber(value.type)}, {"shape", {{"dim", dims}}}};
  return {{"name", value.name},
          {"type", {{"tensorType", tensor_type}}},
          {"shape", shape},
          {"dataType", om::ToString(value.type)}};
}

struct AttributeValue {
  json operator()(int64_t value) const { return {{"i", std::to_string(value)}, {"type", "INT"}}; }
  json operator()(float value) const { return {{"f", value}, {"type", "FLOAT"}}; }
  json operator()(const std::string& value) const { return {{"s", value}, {"type", "STRING"}}; }
  json operator()(const std::vector<int64_t>& values) const { return {{"ints", values}, {"type", "INTS"}}; }
  json operator()(const std::vector<float>& values) const { return {{"floats", values}, {"type", "FLOATS"}}; }
};

json ToJson(const om::Attributes& attributes) {
  json list = json::array();
  for (const auto& [name, value] : attributes) {
    json entry = std::visit(AttributeValue{}, value);
    entry["name"] = name;
    list.push_back(std::move(entry));
  }
  return list;
}

json ToJson(const compiler::OnnxNode& node) {
  json result = {{"name", node.name},
                 {"opType", node.op},
                 {"input", node.inputs},
                 {"output", node.outputs},
                 {"attribute", ToJson(node.attributes)}};
  if (!node.domain.empty()) result["domain"] = node.domain;
  return result;
}

json ToJson(const compiler::OnnxModel& model) {
  json graph = {{"name", model.graph.name},
                {"input", json::array()},
                {"output", json::array()},
                {"node", json::array()},
                {"initializer", json::array()}};
  for (const auto& value : model.graph.inputs) graph["input"].push_back(ToJson(value));
  for (const auto& value : model.graph.outputs) graph["output"].push_back(ToJson(value));
  for (const auto& node : model.graph.nodes) graph["node"].push_back(ToJson(node));
  for (const auto& [name, tensor] : model.graph.initializers) {
    graph["initializer"].push_back({{"name", name}, {"dims", tensor.dims}, {"dataType", OnnxTypeNumber(tensor.type)}});
  }
  return {{"irVersion", std::to_string(model.ir_version)},
          {"producerName", model.producer},
          {"opsetImport", {{{"domain", ""}, {"version", std::to_string(model.opset)}}}},
          {"graph", graph}};
}

json ToJson(const om::PortInfo& port, const om::Dims& dims) {
  return {{"name", port.name}, {"shape", dims}, {"dataType", om::ToString(port.type)}};
}

json ToJson(const om::Gear& gear) {
  return {{"value", gear.values},
          {"input", gear.inputs},
          {"output", gear.outputs},
          {"graph", gear.plan},
          {"images", gear.images}};
}

json ToJson(const om::Graph& graph) {
  const auto names = [&](const std::vector<om::TensorId>& ids) {
    json list = json::array();
    for (const om::TensorId id : ids)
      list.push_back(id == om::kNoTensor ? "" : graph.tensors[static_cast<size_t>(id)].name);
    return list;
  };
  json nodes = json::array(), constants = json::array();
  for (const om::Node& node : graph.nodes) {
    nodes.push_back({{"name", node.name},
                     {"type", node.op},
                     {"input", names(node.inputs)},
                     {"output", names(node.outputs)},
                     {"attr", ToJson(node.attributes)}});
  }
  for (const om::Tensor& tensor : graph.tensors) {
    if (!tensor.is_constant()) continue;
    constants.push_back({{"name", tensor.name}, {"shape", tensor.dims}, {"dataType", om::ToString(tensor.type)}});
  }
  return {{"node", nodes}, {"constant", constants}, {"input", names(graph.inputs)}, {"output", names(graph.outputs)}};
}

Outcome<json> OmToJson(const std::string& path) {
  const auto file = om::OmFile::Open(path);
  if (!file.ok()) return FileFailure(file.status());
  const om::OmFile& om = **file;
  const om::OmInfo& info = om.info();
  json model = {{"name", info.name},
                {"soc_version", info.soc},
                {"atc_version", info.toolkit_version},
                {"command", info.command_line},
                {"input", json::array()},
                {"output", json::array()},
                {"dynamic", om::ToString(info.dynamic)},
                {"gear", json::array()},
                {"graph", json::array()}};
  for (size_t i = 0; i < info.inputs.size(); ++i) model["input"].push_back(ToJson(info.inputs[i], info.InputDims(i)));
  for (size_t i = 0; i < info.outputs.size(); ++i) model["output"].push_back(ToJson(info.outputs[i], info.OutputDims(i)));
  for (const om::Gear& gear : info.gears) model["gear"].push_back(ToJson(gear));
  for (size_t plan = 0; plan < om.plan_count(); ++plan) {
    const Result<om::Graph> graph = om.LoadGraph(plan);
    if (!graph.ok()) return FileFailure(graph.status());
    model["graph"].push_back(ToJson(*graph));
  }
  return model;
}

}  // namespace

Check WriteModelJson(const FlagValues& flags) {
  if (!flags.Has("json")) return Failure{"E10007", "Parameter [--json] is required"};
  json model;
  if (flags.Has("om") && !flags.Has("model")) {
    Outcome<json> om = OmToJson(flags.Get("om"));
    if (!om.ok()) return om.failure();
    model = std::move(om.value());
  } else {
    const Outcome<compiler::OnnxModel> onnx = ReadModel(flags);
    if (!onnx.ok()) return onnx.failure();
    model = ToJson(onnx.value());
  }
  // Names in a model may be any bytes; JSON text must be UTF-8.
  const std::string text = model.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  if (const Status status = WriteFileAtomically(flags.Get("json"), std::string_view(text)); !status.ok()) {
    return Failure{"E13004", status.message()};
  }
  return std::nullopt;
}

}  // namespace npustream::atc
