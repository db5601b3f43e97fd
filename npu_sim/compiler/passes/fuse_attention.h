#pragma once

#include "base/status.h"
#include "npu_sim/compiler/passes/fusion_limits.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// MatMul(q, kᵀ), scaled, with a mask added, Softmax and MatMul with v become one Attention, which reads q, k and v and
// writes its result as they stand before and after the transpositions of the heads. Not where the scores of a few query
// rows would not fit the chip.
Status FuseAttention(om::Graph& graph, const FusionLimits& limits);

}  // namespace npustream::compiler
