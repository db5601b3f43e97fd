#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Turns Conv followed by Add of a computed tensor of the same dims into a Conv with a residual, when nobody else reads
// the convolution and it has neither activation nor residual yet. The Conv takes the place of the Add, where all of its
// inputs exist.
Status FuseConvResidual(om::Graph& graph);

}  // namespace npustream::compiler
