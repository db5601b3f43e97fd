#pragma once

#include <string>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// The graph as text, one line per input, constant, node and output, for golden tests and for people:
//   input x: float32[1,3,8,8]
//   const w: float32[1] = [0.5]
//   y: float32[1,3,8,8] = Mul(x, w) {activation="Relu"}
//   output y
// Constants that no node reads are left out; of long ones the first values and a checksum of all bytes are shown.
std::string PrintGraph(const om::Graph& graph);
// One node's line, without the line end.
std::string PrintNode(const om::Graph& graph, const om::Node& node);

}  // namespace npustream::compiler
