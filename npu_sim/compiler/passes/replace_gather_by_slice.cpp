#include "npu_sim/compiler/passes/replace_gather_by_slice.h"

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

struct Stride {
  int64_t start = 0, step = 1, count = 0;
};

std::optional<Stride> ReadStride(const om::Graph& graph, const om::Node& gather) {
  const om::Tensor& indices = TensorOf(graph, gather.inputs[1]);
  const om::Tensor& data = TensorOf(graph, gather.inputs[0]);
  if (!indices.is_constant() || indices.dims.size() > 1 || data.is_constant()) return std::nullopt;
  const Result<std::vector<int64_t>> values = ReadInts(indices);
  if (!values.ok() || values->empty()) return std::nullopt;
  const int64_t extent = data.dims[static_cast<size_t>(om::GetInt(gather, "axis", 0))];
  std::vector<int64_t> places = *values;
  for (int64_t& place : places) place += place < 0 ? extent : 0;
  Stride stride{places[0], places.size() > 1 ? places[1] - places[0] : 1, static_cast<int64_t>(places.size())};
  if (stride.step < 1) return std::nullopt;
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i] - places[i - 1] != stride.step) return std::nullopt;
  }
  return stride;
}

// The nodes that replace `gather`, appended to `nodes`.
void AppendSlice(om::Graph& graph, const om::Node& gather, const Stride& stride, std::vector<om::Node>& nodes) {
  const int64_t axis = om::GetInt(gather, "axis", 0);
  const int64_t end = stride.start + (stride.count - 1) * stride.step + 1;
  om::Node slice{gather.name,
                 "Slice",
                 {gather.inputs[0]},
                 gather.outputs,
                 {{"axes", std::vector<int64_t>{axis}},
                  {"starts", std::vector<int64_t>{stride.start}},
                  {"ends", std::vector<int64_t>{end}},
                  {"steps", std::vector<int64_t>{stride.step}}}};
  if (!TensorOf(graph, gather.inputs[1]).dims.empty()) {
    nodes.push_back(std::move(slice));
    return;
  }
  om::Tensor kept = TensorOf(graph, gather.outputs[0]);
  kept.name += ".slice";
  kept.dims.insert(kept.dims.begin() + axis, 1);
  slice.outputs[0] = AddTensor(graph, std::move(kept));
  const om::TensorId sliced = slice.outputs[0];
  nodes.push_back(std::move(slice));
  nodes.push_back({gather.name + ".shape", "Reshape", {sliced}, gather.outputs, {}});
}

}  // namespace

Status ReplaceGatherBySlice(om::Graph& graph) {
  std::vector<om::Node> nodes;
  for (const om::Node& node : graph.nodes) {
    const std::optional<Stride> stride = node.op == "Gather" ? ReadStride(graph, node) : std::nullopt;
    if (stride) {
      AppendSlice(graph, node, *stride, nodes);
    } else {
      nodes.push_back(node);
    }
  }
  graph.nodes = std::move(nodes);
  return {};
}

}  // namespace npustream::compiler
