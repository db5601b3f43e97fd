#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Removes nodes that hand on their input as it is: Reshape and Expand to the same dims, Transpose in the same order,
// Cast to the same type, Concat of one, Split into one, Pad by 0, Slice of everything, Tile once, Clip without bounds,
// x + 0, x · 1. One stays where a graph input or constant is handed on as a graph output.
Status RemoveIdentities(om::Graph& graph);

}  // namespace npustream::compiler
