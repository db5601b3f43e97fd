#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Removes nodes whose results nobody reads, then tensors that no node and no port of the graph names.
Status RemoveDeadCode(om::Graph& graph);

}  // namespace npustream::compiler
