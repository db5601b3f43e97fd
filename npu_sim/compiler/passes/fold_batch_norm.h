#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Folds BatchNormalization, and multiplication and addition of constants per channel, into the weights and bias of the
// Conv, ConvTranspose or Gemm before it, when nobody else reads its result. In double precision, rounded once.
Status FoldBatchNorm(om::Graph& graph);

}  // namespace npustream::compiler
