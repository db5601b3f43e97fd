#include "npu_sim/compiler/passes/fold_constants.h"

#include <algorithm>

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

constexpr size_t kAlwaysFoldBytes = size_t{16} << 20;
// What all constants together may grow by: freely, and for each byte that they have. Quantised weights become four times
// as large.
constexpr size_t kFreeGrowth = size_t{256} << 20, kGrowth = 4;

bool AllInputsConstant(const om::Graph& graph, const om::Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](om::TensorId id) { return id == om::kNoTensor || TensorOf(graph, id).is_constant(); });
}

size_t BytesOf(const om::Graph& graph, const std::vector<om::TensorId>& ids) {
  size_t bytes = 0;
  for (const om::TensorId id : ids) bytes += id == om::kNoTensor ? 0 : TensorOf(graph, id).ByteSize();
  return bytes;
}

size_t ConstantBytes(const om::Graph& graph) {
  size_t bytes = 0;
  for (const om::Tensor& tensor : graph.tensors) bytes += tensor.is_constant() ? tensor.ByteSize() : 0;
  return bytes;
}

bool IsGraphOutput(const om::Graph& graph, const om::Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](om::TensorId id) {
    return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  });
}

// True when the node's results are constants now.
bool Fold(om::Graph& graph, const om::Node& node) {
  if (node.op == "Reshape") {
    TensorOf(graph, node.outputs[0]).constant = TensorOf(graph, node.inputs[0]).constant;
    return true;
  }
  Result<std::vector<om::Bytes>> contents = program::EvaluateNode(graph, node);
  if (!contents.ok()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == om::kNoTensor) continue;
    TensorOf(graph, node.outputs[i]).constant = std::make_shared<const om::Bytes>(std::move((*contents)[i]));
  }
  return true;
}

// Whether some reader of the weights works on integers too, so that it may become an integer kernel.
bool MeetsIntegers(const om::Graph& graph, const Uses& uses, const om::Node& weights) {
  const auto computed_integers = [&](om::TensorId id) {
    const om::Node* producer = ProducerOf(graph, uses, id, "Dequantize");
    return producer != nullptr && !TensorOf(graph, producer->inputs[0]).is_constant();
  };
  const std::vector<int>& readers = uses.Consumers(weights.outputs[0]);
  return std::any_of(readers.begin(), readers.end(), [&](int reader) {
    const om::Node& node = graph.nodes[static_cast<size_t>(reader)];
    return std::any_of(node.inputs.begin(), node.inputs.end(), computed_integers);
  });
}

Status FoldAll(om::Graph& graph, bool keep_quantised_weights) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  size_t room = kFreeGrowth + kGrowth * ConstantBytes(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const om::Node& node = graph.nodes[n];
    const size_t out = BytesOf(graph, node.outputs);
    const bool worth = out <= std::max(BytesOf(graph, node.inputs), kAlwaysFoldBytes) && out <= room;
    // A model's output has to be written by somebody: a constant one stays the copy that the importer made.
    if (!AllInputsConstant(graph, node) || IsGraphOutput(graph, node) || !worth) continue;
    if (keep_quantised_weights && node.op == "Dequantize" && MeetsIntegers(graph, uses, node)) continue;
    dead[n] = Fold(graph, node);
    if (dead[n]) room -= out;
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace

Status FoldConstants(om::Graph& graph) { return FoldAll(graph, true); }

Status FoldQuantisedWeights(om::Graph& graph) { return FoldAll(graph, false); }

}  // namespace npustream::compiler
