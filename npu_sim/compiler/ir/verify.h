#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// What every graph between two passes must be: ids in range, each tensor written once and before it is read, inputs and
// constants written by nobody, constants as long as their dims say, outputs that exist. kInternal names the first
// fault.
Status VerifyGraph(const om::Graph& graph);

}  // namespace npustream::compiler
