#pragma once

#include <string>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Reads what PrintGraph (npu_sim/compiler/ir/print.h) writes, so that tests say in text what goes in and what comes
// out. Long constants may be written as "= ramp" (values −1 … 1, repeatable), "= ramp bytes" (0 … 255) or "= fill 0.5".
// Fails the running test on text that it does not understand.
om::Graph ParseGraph(const std::string& text);

}  // namespace npustream::compiler
