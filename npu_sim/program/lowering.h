#pragma once

#include "base/status.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::program {

// Makes a portable graph ready for this CPU: chooses implementations and layouts, inserts reorders where layouts meet,
// turns channel shuffles, slices and joins into as few copies as possible, packs weights and plans the buffers.
// `isa` must not exceed kernels::RunningIsa(). kUnsupported names every node that cannot be run; a convolution that
// only a reference implementation could do is an error which names the node.
Result<om::NativePlan> Lower(const om::Graph& graph, kernels::Isa isa = kernels::RunningIsa());

}  // namespace npustream::program
