#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Lets a Reshape (and a Transpose) of a Reshape (Transpose) start from the first one's input, turns a Transpose that
// moves nothing but axes of extent 1 into a Reshape, and a Reshape of which the result has the same dims goes away.
Status MergeReshapes(om::Graph& graph);

}  // namespace npustream::compiler
