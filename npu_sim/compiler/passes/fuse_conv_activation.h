#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Gives Conv, ConvTranspose, Gemm, MatMul and Add the activation that alone reads their result, reshaped or not, as
// attributes (npu_sim/om/README.md).
Status FuseConvActivation(om::Graph& graph);

}  // namespace npustream::compiler
