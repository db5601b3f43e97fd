#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/om/aipp_config.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Puts an Aipp node in front of each input that a configuration names: the graph then takes the uint8 picture under the
// input's name. kInvalidArgument when the configuration does not fit the graph.
Status InsertAipp(om::Graph& graph, const std::vector<om::AippConfig>& configs);

}  // namespace npustream::compiler
