#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Turns a Gather of constant, evenly ascending places into a Slice (and a Reshape where a scalar index drops the axis),
// which needs no indices at run time and may become a mere view.
Status ReplaceGatherBySlice(om::Graph& graph);

}  // namespace npustream::compiler
