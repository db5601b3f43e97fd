#include "npu_sim/compiler/passes/convert_outputs.h"

#include <algorithm>

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {

Status ConvertOutputs(om::Graph& graph, const std::map<std::string, om::DataType>& types) {
  for (const auto& [name, type] : types) {
    const auto output = std::find_if(graph.outputs.begin(), graph.outputs.end(),
                                     [&, &name = name](om::TensorId id) { return TensorOf(graph, id).name == name; });
    if (output == graph.outputs.end()) return {StatusCode::kNotFound, "the model has no output '" + name + "'"};
    om::Tensor& plain = TensorOf(graph, *output);
    if (plain.type == type) continue;
    om::Tensor converted = plain;
    converted.type = type;
    plain.name += ".computed";
    const om::TensorId id = AddTensor(graph, std::move(converted));
    graph.nodes.push_back({"cast_" + name, "Cast", {*output}, {id}, {}});
    *output = id;
  }
  return {};
}

}  // namespace npustream::compiler
