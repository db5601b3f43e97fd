#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Transposes the parts of a join along a spatial axis instead of the join: detectors' heads then write their channels
// last, straight into the place that they have in the output.
Status MoveTransposeUp(om::Graph& graph);

}  // namespace npustream::compiler
