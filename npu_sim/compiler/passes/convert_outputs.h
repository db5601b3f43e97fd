#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Gives outputs of the graph another element type by a Cast behind them. kNotFound for a name that is no output.
Status ConvertOutputs(om::Graph& graph, const std::map<std::string, om::DataType>& types);

}  // namespace npustream::compiler
