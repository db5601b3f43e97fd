#include "npu_sim/compiler/passes/fold_focus.h"

#include <array>
#include <optional>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

// Every second row and column of `source`, from (row, column) on.
struct Phase {
  om::TensorId source;
  int64_t row, column;
};

// Follows a chain of slices with step 2, one per axis 2 and 3.
std::optional<Phase> FindPhase(const om::Graph& graph, const Uses& uses, om::TensorId id) {
  std::array<int64_t, 2> start = {-1, -1};
  while (const om::Node* slice = ProducerOf(graph, uses, id, "Slice")) {
    const auto starts = om::GetInts(*slice, "starts"), axes = om::GetInts(*slice, "axes");
    const auto steps = om::GetInts(*slice, "steps", std::vector<int64_t>(starts.size(), 1));
    const om::Dims &in = TensorOf(graph, slice->inputs[0]).dims, &out = TensorOf(graph, slice->outputs[0]).dims;
    if (axes.size() != starts.size() || steps.size() != starts.size() || in.size() != 4) return std::nullopt;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + 4 : axes[i];
      if (axis < 2 || axis > 3 || steps[i] != 2 || starts[i] < 0 || starts[i] > 1 || start[axis - 2] >= 0)
        return std::nullopt;
      if (in[axis] % 2 != 0 || out[axis] != in[axis] / 2) return std::nullopt;
      start[axis - 2] = starts[i];
    }
    id = slice->inputs[0];
    if (start[0] >= 0 && start[1] >= 0) return Phase{id, start[0], start[1]};
  }
  return std::nullopt;
}

// The four phases of one picture in the order in which `concat` joins them; nothing when it is something else.
std::optional<std::array<Phase, 4>> FindFocus(const om::Graph& graph, const Uses& uses, const om::Node& concat) {
  if (concat.inputs.size() != 4 || om::GetInt(concat, "axis", 0) != 1) return std::nullopt;
  std::array<Phase, 4> phases = {};
  std::array<bool, 4> seen = {};
  for (size_t i = 0; i < 4; ++i) {
    const auto phase = FindPhase(graph, uses, concat.inputs[i]);
    if (!phase || (i > 0 && phase->source != phases[0].source)) return std::nullopt;
    phases[i] = *phase;
    seen[static_cast<size_t>(phase->row * 2 + phase->column)] = true;
  }
  if (!seen[0] || !seen[1] || !seen[2] || !seen[3]) return std::nullopt;
  return phases;
}

// Weights for the picture: tap (kh, kw) of phase (row, column) lies at (2·kh + row, 2·kw + column).
std::vector<float> SpreadWeights(std::span<const float> weights, const om::Dims& dims,
                                 const std::array<Phase, 4>& phases) {
  const int64_t channels = dims[1] / 4, kh = dims[2], kw = dims[3];
  std::vector<float> spread(weights.size());
  size_t at = 0;
  for (int64_t o = 0; o < dims[0]; ++o) {
    for (int64_t c = 0; c < dims[1]; ++c) {
      const Phase& phase = phases[static_cast<size_t>(c / channels)];
      for (int64_t h = 0; h < kh; ++h) {
        for (int64_t w = 0; w < kw; ++w) {
          const int64_t row = (o * channels + c % channels) * 2 * kh + 2 * h + phase.row;
          spread[static_cast<size_t>(row * 2 * kw + 2 * w + phase.column)] = weights[at++];
        }
      }
    }
  }
  return spread;
}

void Double(om::Node& node, const char* name, size_t size, int64_t otherwise) {
  auto values = om::GetInts(node, name, std::vector<int64_t>(size, otherwise));
  for (int64_t& value : values) value *= 2;
  node.attributes[name] = values;
}

void FoldInto(om::Graph& graph, const Uses& uses, om::Node& conv) {
  const om::Node* concat = ProducerOf(graph, uses, conv.inputs[0], "Concat");
  if (!concat || om::GetInt(conv, "group", 1) != 1) return;
  const auto phases = FindFocus(graph, uses, *concat);
  const om::Dims dims = TensorOf(graph, conv.inputs[1]).dims;
  const auto weights = FloatView(TensorOf(graph, conv.inputs[1]));
  if (!phases || dims.size() != 4 || weights.empty()) return;
  for (const int64_t dilation : om::GetInts(conv, "dilations")) {
    if (dilation != 1) return;
  }
  om::Tensor spread =
      MakeFloats(TensorOf(graph, conv.inputs[1]).name + ":focus", {dims[0], dims[1] / 4, dims[2] * 2, dims[3] * 2},
                 SpreadWeights(weights, dims, *phases));
  conv.inputs[0] = (*phases)[0].source;
  conv.inputs[1] = AddTensor(graph, std::move(spread));
  Double(conv, "strides", 2, 1);
  Double(conv, "pads", 4, 0);
}

}  // namespace

Status FoldFocus(om::Graph& graph) {
  const Uses uses(graph);
  for (om::Node& node : graph.nodes) {
    if (node.op == "Conv") FoldInto(graph, uses, node);
  }
  return {};
}

}  // namespace npustream::compiler
