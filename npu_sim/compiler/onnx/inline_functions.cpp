#include "npu_sim/compiler/onnx/inline_functions.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace npustream::compiler {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Calls and subgraphs nested deeper, and bodies that fill memory, are no network.
constexpr int kMaxDepth = 32;
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kBytesPerNode = 256;

std::string NormalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

int64_t StandardOpset(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  for (const auto& import : imports) {
    if (NormalDomain(import.domain()).empty()) return import.version();
  }
  return 0;
}

// Attributes that a function's caller may leave out. They came with IR 9: protobuf classes made before do not have them.
std::vector<onnx::AttributeProto> DefaultAttributes(const onnx::FunctionProto& function) {
  constexpr int kField = 11;
  std::vector<onnx::AttributeProto> defaults;
  const auto* reflection = function.GetReflection();
  if (const auto* field = function.GetDescriptor()->FindFieldByNumber(kField)) {
    for (int i = 0; i < reflection->FieldSize(function, field); ++i)
      defaults.emplace_back().CopyFrom(reflection->GetRepeatedMessage(function, field, i));
    return defaults;
  }
  const auto& unknown = reflection->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() != kField || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(field.length_delimited())) defaults.push_back(std::move(attribute));
  }
  return defaults;
}

// One call: what the function's names and attributes are called by, where it is called.
class Call {
 public:
  Call(const onnx::FunctionProto& function, const onnx::NodeProto& caller, size_t number)
      : prefix_(fmt::format("{}.{}/", function.name(), number)) {
    for (int i = 0; i < function.input_size(); ++i)
      names_[function.input(i)] = i < caller.input_size() ? caller.input(i) : "";
    for (int i = 0; i < function.output_size() && i < caller.output_size(); ++i) {
      if (!caller.output(i).empty()) names_[function.output(i)] = caller.output(i);
    }
    for (onnx::AttributeProto& attribute : DefaultAttributes(function)) attributes_[attribute.name()] = attribute;
    for (const auto& attribute : caller.attribute()) attributes_[attribute.name()] = attribute;
  }

  void Translate(onnx::NodeProto& node) const {
    if (!node.name().empty()) node.set_name(prefix_ + node.name());
    for (std::string& name : *node.mutable_input()) Rename(name);
    for (std::string& name : *node.mutable_output()) Rename(name);
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> kept;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (Resolve(attribute)) kept.Add(std::move(attribute));
    }
    node.mutable_attribute()->Swap(&kept);
  }

 private:
  void Rename(std::string& name) const {
    if (name.empty()) return;
    const auto found = names_.find(name);
    name = found != names_.end() ? found->second : prefix_ + name;
  }

  // False for an attribute that is the caller's and that the caller left out.
  bool Resolve(onnx::AttributeProto& attribute) const {
    if (!attribute.ref_attr_name().empty()) {
      const auto found = attributes_.find(attribute.ref_attr_name());
      if (found == attributes_.end()) return false;
      const std::string name = attribute.name();
      attribute = found->second;
      attribute.set_name(name);
      return true;
    }
    if (attribute.has_g()) TranslateGraph(*attribute.mutable_g());
    return true;
  }

  void TranslateGraph(onnx::GraphProto& graph) const {
    for (auto* values : {graph.mutable_input(), graph.mutable_output()}) {
      for (auto& value : *values) Rename(*value.mutable_name());
    }
    for (auto& initializer : *graph.mutable_initializer()) Rename(*initializer.mutable_name());
    for (auto& node : *graph.mutable_node()) Translate(node);
  }

  const std::string prefix_;
  std::map<std::string, std::string> names_;
  std::map<std::string, onnx::AttributeProto> attributes_;
};

class Inliner {
 public:
  Status Run(onnx::ModelProto& model) {
    for (const auto& function : model.functions()) {
      const std::string domain = NormalDomain(function.domain());
      if (!functions_.emplace(std::pair(domain, function.name()), &function).second)
        return {StatusCode::kUnsupported, fmt::format("two functions are called '{}'", function.name())};
    }
    opset_ = StandardOpset(model.opset_import());
    return Expand(*model.mutable_graph()->mutable_node(), 0);
  }

 private:
  Status Expand(Nodes& nodes, int depth) {
    if (depth > kMaxDepth) return {StatusCode::kCorruptData, "functions or subgraphs are nested too deeply"};
    Nodes result;
    for (onnx::NodeProto& node : nodes) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) NPUSTREAM_RETURN_IF_ERROR(Expand(*attribute.mutable_g()->mutable_node(), depth + 1));
      }
      const auto found = functions_.find({NormalDomain(node.domain()), node.op_type()});
      if (found == functions_.end()) {
        result.Add(std::move(node));
        continue;
      }
      Nodes body;
      NPUSTREAM_RETURN_IF_ERROR(Copy(*found->second, node, body));
      NPUSTREAM_RETURN_IF_ERROR(Expand(body, depth + 1));
      for (onnx::NodeProto& inner : body) result.Add(std::move(inner));
    }
    nodes.Swap(&result);
    return {};
  }

  Status Copy(const onnx::FunctionProto& function, const onnx::NodeProto& caller, Nodes& body) {
    if (const int64_t opset = StandardOpset(function.opset_import()); opset != 0 && opset != opset_) {
      return {StatusCode::kUnsupported,
              fmt::format("function '{}' uses operator set {}, the model {}", function.name(), opset, opset_)};
    }
    const Call call(function, caller, ++calls_);
    bytes_ += kBytesPerNode;
    for (const onnx::NodeProto& node : function.node()) {
      onnx::NodeProto& copy = *body.Add();
      copy = node;
      call.Translate(copy);
      bytes_ += copy.ByteSizeLong() + kBytesPerNode;
      if (bytes_ > kMostBytes) return {StatusCode::kCorruptData, "its functions' calls would fill memory"};
    }
    return {};
  }

  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  int64_t opset_ = 0;
  size_t calls_ = 0, bytes_ = 0;
};

}  // namespace

Status InlineFunctions(onnx::ModelProto& model) {
  return model.functions_size() == 0 ? Status() : Inliner().Run(model);
}

}  // namespace npustream::compiler
