#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Turns MatMul by a constant matrix, with the Add of a constant row behind it if there is one, into Gemm with a bias. A
// left side of more than two dimensions is reshaped to a matrix and back.
Status FuseMatMulBias(om::Graph& graph);

}  // namespace npustream::compiler
