#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Computed int8 tensors that stand for real numbers become uint8 with a zero point that is 128 higher: the integer
// kernels take unsigned activations. Constant uint8 weights become int8 in the same way.
Status UnsignedActivations(om::Graph& graph);

}  // namespace npustream::compiler
