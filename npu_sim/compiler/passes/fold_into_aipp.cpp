#include "npu_sim/compiler/passes/fold_into_aipp.h"

#include <algorithm>

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/ir/quantized.h"

namespace npustream::compiler {
namespace {

// What `node` does to each channel of `picture` as (x − shift) · scale; nothing when it does something else.
struct ChannelStep {
  std::vector<float> shift, scale;
};

std::optional<ChannelStep> ReadStep(const om::Graph& graph, const om::Node& node, om::TensorId picture) {
  const bool adds = node.op == "Sub" || node.op == "Add", scales = node.op == "Mul" || node.op == "Div";
  if ((!adds && !scales) || HasActivation(node)) return std::nullopt;
  const bool swapped = node.inputs[0] != picture;
  if (swapped && (node.op == "Sub" || node.op == "Div")) return std::nullopt;
  const om::Dims& dims = TensorOf(graph, picture).dims;
  if (TensorOf(graph, node.outputs[0]).dims != dims) return std::nullopt;
  const auto values = PerChannelValues(graph, node.inputs[swapped ? 0 : 1], dims.size(), dims[1]);
  if (!values) return std::nullopt;
  ChannelStep step{std::vector<float>(values->size(), 0.0f), std::vector<float>(values->size(), 1.0f)};
  for (size_t c = 0; c < values->size(); ++c) {
    const float value = (*values)[c];
    if (adds) step.shift[c] = node.op == "Sub" ? value : -value;
    if (scales) step.scale[c] = node.op == "Mul" ? value : 1.0f / value;
  }
  return step;
}

// ((in − min) · var − shift) · scale = (in − (min + shift / var)) · (var · scale)
bool Apply(om::Node& aipp, const ChannelStep& step) {
  std::vector<float> min = om::GetFloats(aipp, "min_chn"), var = om::GetFloats(aipp, "var_reci_chn");
  if (min.size() < step.shift.size() || var.size() < step.shift.size()) return false;
  for (size_t c = 0; c < step.shift.size(); ++c) {
    if (var[c] == 0) return false;
    min[c] = static_cast<float>(static_cast<double>(min[c]) +
                                static_cast<double>(step.shift[c]) / static_cast<double>(var[c]));
    var[c] *= step.scale[c];
  }
  aipp.attributes["min_chn"] = std::move(min);
  aipp.attributes["var_reci_chn"] = std::move(var);
  return true;
}

// The Quantize that alone reads a picture, and makes bytes of it that convolutions alone read, in whose layout AIPP writes
// them; null when there is none.
const om::Node* ByteReader(const om::Graph& graph, const Uses& uses, om::TensorId picture) {
  const int reader = QuantizedOnlyBy(graph, uses, picture);
  if (reader < 0) return nullptr;
  const om::Node& quantize = graph.nodes[static_cast<size_t>(reader)];
  const om::TensorId bytes = quantize.outputs[0];
  const std::vector<int>& readers = uses.Consumers(bytes);
  const bool by_convs = std::all_of(readers.begin(), readers.end(),
                                    [&](int n) { return graph.nodes[static_cast<size_t>(n)].op == "Conv"; });
  return by_convs && !uses.IsGraphOutput(bytes) && IsByteTensor(TensorOf(graph, bytes)) ? &quantize : nullptr;
}

}  // namespace

Status FoldIntoAipp(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (om::Node& aipp : graph.nodes) {
    if (aipp.op != "Aipp") continue;
    while (om::GetInt(aipp, "padding", 0) == 0) {
      const om::TensorId picture = aipp.outputs[0];
      const int reader = uses.OnlyConsumer(picture);
      if (reader < 0) break;
      const om::Node& node = graph.nodes[static_cast<size_t>(reader)];
      const std::optional<ChannelStep> step = ReadStep(graph, node, picture);
      if (!step || !Apply(aipp, *step)) break;
      aipp.outputs[0] = node.outputs[0];
      dead[static_cast<size_t>(reader)] = true;
    }
    if (const om::Node* quantize = ByteReader(graph, uses, aipp.outputs[0])) {
      aipp.outputs[0] = quantize->outputs[0];
      dead[static_cast<size_t>(quantize - graph.nodes.data())] = true;
    }
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
