#include "npu_sim/compiler/passes/merge_pad_into_conv.h"

#include <algorithm>
#include <limits>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

// The pads of the spatial axes (begins, then ends) of a constant Pad; nothing when it pads other axes, cuts off, or
// mirrors.
std::optional<std::vector<int64_t>> SpatialPads(const om::Node& pad) {
  const std::vector<int64_t> pads = om::GetInts(pad, "pads");
  const size_t rank = pads.size() / 2;
  if (om::GetString(pad, "mode", "constant") != "constant" || rank < 3) return std::nullopt;
  if (std::any_of(pads.begin(), pads.end(), [](int64_t value) { return value < 0; })) return std::nullopt;
  if (pads[0] != 0 || pads[1] != 0 || pads[rank] != 0 || pads[rank + 1] != 0) return std::nullopt;
  std::vector<int64_t> spatial(pads.begin() + 2, pads.begin() + static_cast<std::ptrdiff_t>(rank));
  spatial.insert(spatial.end(), pads.begin() + static_cast<std::ptrdiff_t>(rank) + 2, pads.end());
  return spatial;
}

bool HasPads(const om::Node& node) {
  const std::vector<int64_t> pads = om::GetInts(node, "pads");
  return std::any_of(pads.begin(), pads.end(), [](int64_t value) { return value != 0; });
}

bool CanTakePads(const om::Node& node, float value) {
  if (node.op == "Conv") return value == 0;
  if (node.op == "MaxPool") return value <= std::numeric_limits<float>::lowest();
  // Its own padding must be counted like the zeros that come in.
  if (node.op == "AveragePool") {
    return value == 0 && (!HasPads(node) || om::GetInt(node, "count_include_pad", 0) != 0);
  }
  return false;
}

}  // namespace

Status MergePadIntoConv(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const om::Node& pad = graph.nodes[n];
    if (pad.op != "Pad") continue;
    const int reader = uses.OnlyConsumer(pad.outputs[0]);
    const std::optional<std::vector<int64_t>> spatial = SpatialPads(pad);
    if (reader < 0 || !spatial) continue;
    om::Node& window = graph.nodes[static_cast<size_t>(reader)];
    if (window.inputs[0] != pad.outputs[0] || !CanTakePads(window, om::GetFloat(pad, "value", 0))) continue;
    std::vector<int64_t> pads = om::GetInts(window, "pads");
    for (size_t i = 0; i < pads.size(); ++i) pads[i] += (*spatial)[i];
    window.attributes["pads"] = std::move(pads);
    if (window.op == "AveragePool") window.attributes["count_include_pad"] = int64_t{1};
    window.inputs[0] = pad.inputs[0];
    dead[n] = true;
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
