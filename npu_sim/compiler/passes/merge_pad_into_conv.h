#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Moves constant padding of the picture into the window operator that alone reads it: zeros into Conv and (as counted
// padding) AveragePool, minus infinity (or the lowest number) into MaxPool.
Status MergePadIntoConv(om::Graph& graph);

}  // namespace npustream::compiler
