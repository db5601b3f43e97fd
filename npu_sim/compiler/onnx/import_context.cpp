#include "npu_sim/compiler/onnx/import_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/ir/shape_math.h"
#include "npu_sim/compiler/onnx/import_graph.h"
#include "npu_sim/compiler/onnx/operator_table.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

template <typename T>
T GetAttribute(const OnnxNode& node, const std::string& name, const T& otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  return value != nullptr ? *value : otherwise;
}

}  // namespace

Status ImportContext::Error(const std::string& sentence, StatusCode code) const {
  return {code, fmt::format("node '{}' ({}): {}", node_.name, node_.op, sentence)};
}

Result<std::vector<int64_t>> ImportContext::ConstantInts(size_t i, std::string_view what) const {
  if (!HasInput(i)) return Error(fmt::format("{} is missing", what));
  if (!Input(i).is_constant()) return Unsupported(fmt::format("{} must be constant", what));
  Result<std::vector<int64_t>> values = ReadInts(Input(i));
  if (!values.ok()) return Error(values.status().message());
  return values;
}

Result<std::vector<float>> ImportContext::ConstantFloats(size_t i, std::string_view what) const {
  if (!HasInput(i)) return Error(fmt::format("{} is missing", what));
  if (!Input(i).is_constant()) return Unsupported(fmt::format("{} must be constant", what));
  return ReadFloats(Input(i));
}

int64_t ImportContext::Int(const std::string& name, int64_t otherwise) const {
  return GetAttribute(node_, name, otherwise);
}
float ImportContext::Float(const std::string& name, float otherwise) const {
  return GetAttribute(node_, name, otherwise);
}
std::string ImportContext::String(const std::string& name, const std::string& otherwise) const {
  return GetAttribute(node_, name, otherwise);
}
std::vector<int64_t> ImportContext::Ints(const std::string& name, const std::vector<int64_t>& otherwise) const {
  return GetAttribute(node_, name, otherwise);
}
std::vector<float> ImportContext::Floats(const std::string& name, const std::vector<float>& otherwise) const {
  return GetAttribute(node_, name, otherwise);
}

Result<int64_t> ImportContext::Axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) return Error(fmt::format("axis {} does not exist in {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

Result<om::TensorId> ImportContext::Append(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                                           om::Tensor result) {
  if (Status status = CheckDims(result.dims, result.type); !status.ok()) {
    return Error("its result " + status.message());
  }
  om::Graph& graph = state_.graph;
  const std::string suffix = emitted_ == 0 ? "" : fmt::format("_{}", emitted_);
  ++emitted_;
  const om::TensorId id = AddTensor(graph, std::move(result));
  om::Node made{node_.name + suffix, std::move(op), std::move(inputs), {id}, std::move(attributes)};
  if (std::optional<om::Bytes> content = EvaluateShapeMath(graph, made)) {
    TensorOf(graph, id).constant = std::make_shared<const om::Bytes>(std::move(*content));
  } else {
    graph.nodes.push_back(std::move(made));
  }
  return id;
}

Result<om::TensorId> ImportContext::Emit(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                                         om::DataType type, om::Dims dims) {
  om::Tensor result{fmt::format("{}.{}", BaseName(), emitted_), type, std::move(dims), nullptr};
  return Append(std::move(op), std::move(inputs), std::move(attributes), std::move(result));
}

Result<om::TensorId> ImportContext::EmitFolded(std::string op, std::vector<om::TensorId> inputs,
                                               om::Attributes attributes, om::DataType type, om::Dims dims) {
  const bool constant =
      std::all_of(inputs.begin(), inputs.end(), [&](om::TensorId id) { return Tensor(id).is_constant(); });
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId id,
                             Emit(std::move(op), std::move(inputs), std::move(attributes), type, std::move(dims)));
  om::Graph& graph = state_.graph;
  if (!constant || Tensor(id).is_constant()) return id;
  auto content = program::EvaluateNode(graph, graph.nodes.back());
  if (!content.ok()) return Error(content.status().message());
  graph.nodes.pop_back();
  TensorOf(graph, id).constant = std::make_shared<const om::Bytes>(std::move(content->front()));
  return id;
}

Status ImportContext::Output(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                             om::DataType type, om::Dims dims) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId id, Append(std::move(op), std::move(inputs), std::move(attributes),
                                                           {BaseName(), type, std::move(dims), nullptr}));
  return Bind(0, id);
}

Result<std::vector<om::TensorId>> ImportContext::EmitMany(std::string op, std::vector<om::TensorId> inputs,
                                                          om::Attributes attributes,
                                                          const std::vector<om::Tensor>& results) {
  const std::string suffix = emitted_ == 0 ? "" : fmt::format("_{}", emitted_);
  ++emitted_;
  om::Node made{node_.name + suffix, std::move(op), std::move(inputs), {}, std::move(attributes)};
  for (size_t i = 0; i < results.size(); ++i) {
    if (Status status = CheckDims(results[i].dims, results[i].type); !status.ok()) {
      return Error("its result " + status.message());
    }
    made.outputs.push_back(AddTensor(state_.graph, results[i]));
    TensorOf(state_.graph, made.outputs.back()).name =
        WantsOutput(i) ? fmt::format("{}.result{}", node_.outputs[i], i) : fmt::format("{}.unused{}", node_.name, i);
  }
  const std::vector<om::TensorId> ids = made.outputs;
  state_.graph.nodes.push_back(std::move(made));
  return ids;
}

Status ImportContext::OutputMany(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                                 const std::vector<om::Tensor>& results) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::TensorId> ids,
                             EmitMany(std::move(op), std::move(inputs), std::move(attributes), results));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (WantsOutput(i)) NPUSTREAM_RETURN_IF_ERROR(Bind(i, ids[i]));
  }
  return {};
}

Result<om::TensorId> ImportContext::Compose(const std::string& op, std::vector<om::TensorId> inputs,
                                            om::Attributes attributes) {
  OnnxNode node;
  node.name = fmt::format("{}_{}{}", node_.name, op, composed_);
  node.op = op;
  node.outputs = {fmt::format("{}.{}{}", node_.outputs[0], op, composed_)};
  node.attributes = std::move(attributes);
  ++composed_;
  ImportContext inner(state_, node, std::move(inputs));
  NPUSTREAM_RETURN_IF_ERROR(FindImporter(node)->import(inner));
  return inner.OutputId(0);
}

const std::string& ImportContext::BaseName() const {
  const auto named =
      std::find_if(node_.outputs.begin(), node_.outputs.end(), [](const std::string& name) { return !name.empty(); });
  return named == node_.outputs.end() ? node_.name : *named;
}

om::TensorId ImportContext::OutputId(size_t i) const { return i < bound_.size() ? bound_[i] : om::kNoTensor; }

void ImportContext::SetQuantization(om::TensorId id, om::Quantization quantization) {
  TensorOf(state_.graph, id).quantization = std::make_shared<const om::Quantization>(std::move(quantization));
}

Result<om::TensorId> ImportContext::Quantized(om::TensorId id, om::Quantization quantization) {
  const om::Tensor& tensor = Tensor(id);
  if (tensor.quantization && *tensor.quantization == quantization) return id;
  if (tensor.quantization) {
    om::Tensor copy = tensor;
    copy.name = fmt::format("{}.{}", BaseName(), emitted_);
    copy.quantization = nullptr;
    if (copy.is_constant()) {
      id = Constant(std::move(copy));
    } else {
      NPUSTREAM_ASSIGN_OR_RETURN(id, Append("Identity", {id}, {}, std::move(copy)));
    }
  }
  SetQuantization(id, std::move(quantization));
  return id;
}

om::TensorId ImportContext::Constant(om::Tensor tensor) {
  state_.made_bytes += tensor.ByteSize();
  return AddTensor(state_.graph, std::move(tensor));
}

om::TensorId ImportContext::Number(std::string_view suffix, float value) {
  return Constant(MakeFloats(node_.name + std::string(suffix), {}, {&value, 1}));
}

Status ImportContext::CountIteration() {
  // Far more than a network has; keeps nested loops of a hostile file within bounds.
  constexpr int64_t kMostIterations = 4096;
  if (++state_.iterations <= kMostIterations) return {};
  return Unsupported(fmt::format("loops of more than {} iterations are not unrolled", kMostIterations));
}

Result<std::vector<om::TensorId>> ImportContext::Branch(const std::string& name,
                                                        const std::vector<om::TensorId>& inputs) {
  const auto found = node_.subgraphs.find(name);
  if (found == node_.subgraphs.end()) return Error(fmt::format("it has no {}", name), StatusCode::kCorruptData);
  auto results = ImportBranch(*found->second, inputs, state_);
  if (!results.ok()) return results.status().WithContext(fmt::format("node '{}' ({})", node_.name, node_.op));
  return results;
}

Status ImportContext::Bind(size_t i, om::TensorId id) {
  if (bound_.size() <= i) bound_.resize(i + 1, om::kNoTensor);
  bound_[i] = id;
  if (!WantsOutput(i)) return {};
  if (!state_.tensors.emplace(node_.outputs[i], id).second) {
    return Error(fmt::format("'{}' is written by another node too", node_.outputs[i]), StatusCode::kCorruptData);
  }
  // An intermediate result (see Emit) that turns out to be the whole one.
  om::Tensor& tensor = TensorOf(state_.graph, id);
  if (tensor.name.starts_with(node_.outputs[i] + ".")) tensor.name = node_.outputs[i];
  return {};
}

}  // namespace npustream::compiler
