#include "npu_sim/compiler/passes/insert_aipp.h"

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {

Status InsertAipp(om::Graph& graph, const std::vector<om::AippConfig>& configs) {
  std::vector<om::Node> front;
  for (const om::AippConfig& config : configs) {
    const size_t rank = static_cast<size_t>(config.related_input_rank);
    if (rank >= graph.inputs.size() || TensorOf(graph, graph.inputs[rank]).dims.size() != 4) {
      return {StatusCode::kInvalidArgument, "AIPP names an input that is not a picture"};
    }
    const om::TensorId prepared = graph.inputs[rank];
    const std::string name = TensorOf(graph, prepared).name;
    TensorOf(graph, prepared).name = name + ".aipp";
    TensorOf(graph, prepared).type = om::DataType::kFloat32;
    const om::Dims network = TensorOf(graph, prepared).dims;
    const om::AippConfig sized = om::WithSource(config, network[2], network[3]);
    const om::Dims dims = om::AippInputDims(sized, network[0]);
    const om::TensorId picture = AddTensor(graph, {name, om::DataType::kUInt8, dims, nullptr});
    front.push_back({"aipp_" + name, "Aipp", {picture}, {prepared}, om::ToAttributes(sized)});
    graph.inputs[rank] = picture;
  }
  graph.nodes.insert(graph.nodes.begin(), front.begin(), front.end());
  return {};
}

}  // namespace npustream::compiler
