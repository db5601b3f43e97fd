#pragma once

#include "base/status.h"
#include "npu_sim/extension/npustream_extension.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Runs a pass of an extension library, removes what nobody reads afterwards, and verifies the graph, as the library is not
// ours. Errors name the pass.
Status RunCustomPass(const NpustreamPass& pass, om::Graph& graph);

}  // namespace npustream::compiler
