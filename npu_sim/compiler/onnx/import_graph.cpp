#include "npu_sim/compiler/onnx/import_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/onnx/live_nodes.h"
#include "npu_sim/compiler/onnx/operator_table.h"

namespace npustream::compiler {
namespace {

// One error for all of them, so that a user sees the whole distance at once.
Status CheckOperators(const std::vector<const OnnxNode*>& nodes) {
  std::vector<std::string> missing;
  for (const OnnxNode* node : nodes) {
    if (FindImporter(*node) != nullptr) continue;
    const std::string domain = node->domain.empty() ? "" : node->domain + ".";
    missing.push_back(fmt::format("'{}' ({}{})", node->name, domain, node->op));
  }
  if (missing.empty()) return {};
  return {StatusCode::kUnsupported, fmt::format("no parser for the operator of {} node{}: {}", missing.size(),
                                                missing.size() == 1 ? "" : "s", fmt::join(missing, ", "))};
}

Status CheckArity(const ImportContext& context, const OperatorRow& row) {
  for (size_t i = 0; i < row.min_inputs; ++i) {
    if (!context.HasInput(i)) return context.Error(fmt::format("input {} is missing", i), StatusCode::kCorruptData);
  }
  if (context.InputCount() > row.max_inputs) {
    return context.Error(fmt::format("{} inputs are too many", context.InputCount()), StatusCode::kCorruptData);
  }
  const std::vector<std::string>& outputs = context.node().outputs;
  if (std::all_of(outputs.begin(), outputs.end(), [](const std::string& name) { return name.empty(); }))
    return context.Error("it has no output", StatusCode::kCorruptData);
  return {};
}

// A file of a few bytes per node must not make constants that fill memory. (Each importer bounds its own.)
Status CheckMadeConstants(const ImportContext& context, const ImportState& state) {
  constexpr uint64_t kFree = uint64_t{256} << 20, kPerGiven = 4;
  if (state.made_bytes <= kFree + kPerGiven * state.given_bytes) return {};
  return context.Unsupported("the model's computed constants are too large");
}

// Optional outputs that our operators do not compute (a MaxPool's indices) may be named if nobody reads them.
Status CheckOutputsBound(const OnnxGraph& graph, const ImportContext& context, const ImportState& state) {
  for (const std::string& name : context.node().outputs) {
    if (name.empty() || state.tensors.count(name) != 0) continue;
    for (const OnnxNode& reader : graph.nodes) {
      const std::vector<std::string> reads = NamesReadBy(reader);
      if (std::find(reads.begin(), reads.end(), name) != reads.end()) {
        return context.Unsupported(fmt::format("its output '{}' is not supported", name));
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<const OnnxNode*>> NodesToImport(const OnnxGraph& graph, const std::vector<std::string>& outputs,
                                                   const ImportState& state) {
  const auto is_around = [&](const std::string& name) { return state.tensors.count(name) != 0; };
  NPUSTREAM_ASSIGN_OR_RETURN(auto nodes, LiveNodesInOrder(graph, outputs, is_around));
  NPUSTREAM_RETURN_IF_ERROR(CheckOperators(nodes));
  return nodes;
}

Status ImportNodes(const OnnxGraph& graph, const std::vector<const OnnxNode*>& nodes, ImportState& state) {
  for (const OnnxNode* node : nodes) {
    std::vector<om::TensorId> inputs;
    for (const std::string& name : node->inputs) {
      const auto found = state.tensors.find(name);
      inputs.push_back(found == state.tensors.end() ? om::kNoTensor : found->second);
    }
    ImportContext context(state, *node, std::move(inputs));
    const OperatorRow& row = *FindImporter(*node);
    NPUSTREAM_RETURN_IF_ERROR(CheckArity(context, row));
    NPUSTREAM_RETURN_IF_ERROR(row.import(context));
    NPUSTREAM_RETURN_IF_ERROR(CheckMadeConstants(context, state));
    NPUSTREAM_RETURN_IF_ERROR(CheckOutputsBound(graph, context, state));
  }
  return {};
}

void ImportInitializers(const OnnxGraph& graph, ImportState& state) {
  for (const auto& [name, tensor] : graph.initializers) {
    state.given_bytes += tensor.ByteSize();
    state.tensors[name] = AddTensor(state.graph, tensor);
    TensorOf(state.graph, state.tensors[name]).name = name;
  }
}

Result<std::vector<om::TensorId>> ImportBranch(const OnnxGraph& branch, const std::vector<om::TensorId>& inputs,
                                               ImportState& state) {
  if (branch.inputs.size() != inputs.size())
    return Status(StatusCode::kCorruptData,
                  fmt::format("the branch has {} inputs, not {}", branch.inputs.size(), inputs.size()));
  std::vector<std::string> outputs;
  for (const OnnxValue& output : branch.outputs) outputs.push_back(output.name);
  const auto around = state.tensors;
  NPUSTREAM_ASSIGN_OR_RETURN(const auto nodes, NodesToImport(branch, outputs, state));
  ImportInitializers(branch, state);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != om::kNoTensor) state.tensors[branch.inputs[i].name] = inputs[i];
  }
  NPUSTREAM_RETURN_IF_ERROR(ImportNodes(branch, nodes, state));
  std::vector<om::TensorId> results;
  for (const std::string& name : outputs) {
    const auto found = state.tensors.find(name);
    if (found == state.tensors.end())
      return Status(StatusCode::kUnsupported, fmt::format("the branch's output '{}' is not supported", name));
    results.push_back(found->second);
  }
  state.tensors = around;
  return results;
}

}  // namespace npustream::compiler
