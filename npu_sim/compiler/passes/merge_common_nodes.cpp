#include "npu_sim/compiler/passes/merge_common_nodes.h"

#include <map>
#include <string_view>
#include <tuple>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

std::string_view Content(const om::Tensor& constant) {
  return {reinterpret_cast<const char*>(constant.constant->data()), constant.constant->size()};
}

// For each tensor the first constant that holds the same; itself for everything else.
std::vector<om::TensorId> FirstOfEqualConstants(const om::Graph& graph) {
  std::map<std::tuple<om::DataType, om::Dims, std::string_view>, om::TensorId> known;
  std::vector<om::TensorId> first(graph.tensors.size());
  for (size_t i = 0; i < first.size(); ++i) {
    const om::Tensor& tensor = graph.tensors[i];
    first[i] = static_cast<om::TensorId>(i);
    if (!tensor.is_constant() || tensor.quantization) continue;
    first[i] = known.try_emplace({tensor.type, tensor.dims, Content(tensor)}, first[i]).first->second;
  }
  return first;
}

// Quantised tensors are left alone: their passes match the pairs that the model has.
bool MayMerge(const om::Graph& graph, const om::Node& node) {
  return node.outputs.size() == 1 && node.outputs[0] != om::kNoTensor && node.op != "Quantize" &&
         node.op != "Dequantize" && !TensorOf(graph, node.outputs[0]).quantization;
}

}  // namespace

Status MergeCommonNodes(om::Graph& graph) {
  using Key = std::tuple<std::string, std::vector<om::TensorId>, om::Attributes, om::DataType, om::Dims>;
  const std::vector<om::TensorId> first = FirstOfEqualConstants(graph);
  std::map<Key, om::TensorId> known;
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const om::Node& node = graph.nodes[n];
    if (!MayMerge(graph, node)) continue;
    std::vector<om::TensorId> inputs = node.inputs;
    for (om::TensorId& id : inputs) id = id == om::kNoTensor ? id : first[static_cast<size_t>(id)];
    const om::Tensor& result = TensorOf(graph, node.outputs[0]);
    const auto [same, is_new] =
        known.try_emplace({node.op, std::move(inputs), node.attributes, result.type, result.dims}, node.outputs[0]);
    if (!is_new) dead[n] = ReplaceTensor(graph, node.outputs[0], same->second);
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
