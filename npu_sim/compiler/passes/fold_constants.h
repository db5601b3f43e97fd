#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Computes nodes all of whose inputs are constant. Results that would blow up the file (larger than 16 MiB and than all
// their inputs together) and nodes that the kernels cannot compute are left as they are, and so are quantised weights
// that meet quantised activations, since integer kernels may take them as they are.
Status FoldConstants(om::Graph& graph);

// The same with the weights that no integer kernel took.
Status FoldQuantisedWeights(om::Graph& graph);

}  // namespace npustream::compiler
