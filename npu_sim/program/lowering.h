#pragma once

#include "base/status.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::program {

// Makes a portable graph ready for CPUs of one kind, which need not be this one's: chooses implementations and layouts, inserts reorders where layouts meet,
// turns channel shuffles, slices and joins into as few copies as possible, packs weights and plans the buffers.
// kUnsupported names every node that cannot be run; a convolution that only a reference implementation could do is an
// error which names the node, and so is, for another CPU's instruction set, a node that oneDNN does.
Result<om::NativePlan> Lower(const om::Graph& graph, kernels::Isa isa = kernels::RunningIsa());

}  // namespace npustream::program
