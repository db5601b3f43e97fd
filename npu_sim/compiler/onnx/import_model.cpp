#include "npu_sim/compiler/onnx/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/onnx/import_context.h"
#include "npu_sim/compiler/onnx/import_graph.h"
#include "npu_sim/compiler/onnx/widen_reals.h"

namespace npustream::compiler {
namespace {

constexpr int64_t kOldestOpset = 7;
constexpr int64_t kNewestOpset = 21;

Status CheckOpset(const OnnxModel& model) {
  if (model.opset >= kOldestOpset && model.opset <= kNewestOpset) return {};
  return {StatusCode::kUnsupported, fmt::format("the model uses operator set {}; supported are {} to {}", model.opset,
                                                kOldestOpset, kNewestOpset)};
}

std::string DimsText(const OnnxValue& value) {
  std::vector<std::string> dims;
  for (const OnnxDim& dim : value.dims) {
    dims.push_back(dim.size >= 0 ? fmt::format("{}", dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  return fmt::format("[{}]", fmt::join(dims, ","));
}

Result<om::Dims> InputDims(const OnnxValue& input, const ImportOptions& options) {
  const auto refuse = [&](const std::string& what) {
    return Status(StatusCode::kInvalidArgument, fmt::format("input '{}' {}", input.name, what));
  };
  om::Dims declared;
  for (const OnnxDim& dim : input.dims) declared.push_back(dim.size);
  const auto given = options.input_shapes.find(input.name);
  if (given == options.input_shapes.end()) {
    if (!input.has_shape) return refuse("has no shape in the model: give it with --input_shape");
    for (const int64_t dim : declared) {
      if (dim < 0) return refuse(fmt::format("has the shape {}: fix it with --input_shape", DimsText(input)));
    }
  } else {
    if (input.has_shape && given->second.size() != declared.size()) {
      return refuse(fmt::format("has the shape {} in the model, but {} dimensions were given", DimsText(input),
                                given->second.size()));
    }
    declared = given->second;
  }
  if (Status status = CheckDims(declared, input.type); !status.ok()) return refuse(status.message());
  for (const int64_t dim : declared) {
    if (dim == 0) return refuse(fmt::format("has a dimension of 0: [{}]", fmt::join(declared, ",")));
  }
  return declared;
}

class ModelImporter {
 public:
  ModelImporter(const OnnxModel& model, const ImportOptions& options)
      : model_(model), source_(WidenReals(model.graph)), options_(options) {
    state_.opset = model.opset;
  }

  Result<om::Graph> Run() {
    const std::vector<std::string> outputs = OutputNames();
    if (outputs.empty()) return Status(StatusCode::kCorruptData, "the model has no output");
    NPUSTREAM_ASSIGN_OR_RETURN(const auto nodes, NodesToImport(source_, outputs, state_));
    NPUSTREAM_RETURN_IF_ERROR(CheckOpset(model_));
    NPUSTREAM_RETURN_IF_ERROR(CheckGivenShapes());
    NPUSTREAM_RETURN_IF_ERROR(AddInputs());
    NPUSTREAM_RETURN_IF_ERROR(ImportNodes(source_, nodes, state_));
    NPUSTREAM_RETURN_IF_ERROR(AddOutputs(outputs));
    return std::move(state_.graph);
  }

 private:
  std::vector<std::string> OutputNames() const {
    if (!options_.outputs.empty()) return options_.outputs;
    std::vector<std::string> names;
    for (const OnnxValue& output : source_.outputs) names.push_back(output.name);
    return names;
  }

  Status CheckGivenShapes() const {
    const auto& inputs = source_.inputs;
    for (const auto& [name, dims] : options_.input_shapes) {
      const auto is_it = [&, &name = name](const OnnxValue& input) { return input.name == name; };
      if (std::any_of(inputs.begin(), inputs.end(), is_it)) continue;
      std::vector<std::string> names;
      for (const OnnxValue& input : inputs) names.push_back("'" + input.name + "'");
      return {StatusCode::kNotFound,
              fmt::format("the model has no input '{}'; it has {}", name, fmt::join(names, ", "))};
    }
    return {};
  }

  Status AddInputs() {
    ImportInitializers(source_, state_);
    for (const OnnxValue& input : source_.inputs) {
      NPUSTREAM_ASSIGN_OR_RETURN(om::Dims dims, InputDims(input, options_));
      const om::TensorId id = AddTensor(state_.graph, {input.name, input.type, dims, nullptr});
      state_.graph.inputs.push_back(id);
      state_.tensors[input.name] =
          IsWidened(input.type) ? AddCast(id, input.name + ".float", om::DataType::kFloat32) : id;
    }
    return {};
  }

  om::TensorId AddCast(om::TensorId from, const std::string& name, om::DataType type) {
    const om::TensorId to = AddTensor(state_.graph, {name, type, TensorOf(state_.graph, from).dims, nullptr});
    state_.graph.nodes.push_back({"cast_" + name, "Cast", {from}, {to}, {}});
    return to;
  }

  Status AddOutputs(const std::vector<std::string>& outputs) {
    for (const std::string& name : outputs) {
      const auto found = state_.tensors.find(name);
      if (found == state_.tensors.end()) {
        return {StatusCode::kUnsupported, fmt::format("the model's output '{}' is not supported", name)};
      }
      state_.graph.outputs.push_back(OutputTensor(name, found->second));
    }
    return {};
  }

  // The type that the file declares for an output, when it is one that is computed in float32.
  std::optional<om::DataType> NarrowType(const std::string& name) const {
    for (const OnnxValue& output : source_.outputs) {
      if (output.name == name && IsWidened(output.type)) return output.type;
    }
    return std::nullopt;
  }

  // Every output is a tensor of its own with the output's name: one that is an input, a constant or already an output
  // goes through a copy.
  om::TensorId OutputTensor(const std::string& name, om::TensorId id) {
    om::Graph& graph = state_.graph;
    if (const std::optional<om::DataType> declared = NarrowType(name);
        declared && TensorOf(graph, id).type != *declared) {
      if (TensorOf(graph, id).name == name) TensorOf(graph, id).name += ".float";
      return AddCast(id, name, *declared);
    }
    const auto is_in = [&](const std::vector<om::TensorId>& ids) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    if (!is_in(graph.inputs) && !is_in(graph.outputs) && !TensorOf(graph, id).is_constant()) {
      TensorOf(graph, id).name = name;
      return id;
    }
    om::Tensor copy = TensorOf(graph, id);
    copy.constant = nullptr;
    copy.name = name;
    const om::TensorId copy_id = AddTensor(graph, std::move(copy));
    graph.nodes.push_back({name, "Reshape", {id}, {copy_id}, {}});
    return copy_id;
  }

  const OnnxModel& model_;
  const OnnxGraph source_;
  const ImportOptions& options_;
  ImportState state_;
};

}  // namespace

Result<om::Graph> ImportModel(const OnnxModel& model, const ImportOptions& options) {
  return ModelImporter(model, options).Run();
}

}  // namespace npustream::compiler
