#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Of nodes that compute the same from the same, one stays. Constants of the same content count as the same.
Status MergeCommonNodes(om::Graph& graph);

}  // namespace npustream::compiler
