#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Elementwise operators between one quantised tensor and another become one table of 256 bytes: whatever a chain (or
// net) of functions, constants and intermediate quantisations makes of a byte is computed here for every byte.
Status FuseLookup(om::Graph& graph);

}  // namespace npustream::compiler
