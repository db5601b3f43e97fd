#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::program {

// Computes a node all of whose inputs are constants, for constant folding: the content of each of its outputs, in
// plain layout. `graph` gives types and dims of the tensors.
Result<std::vector<om::Bytes>> EvaluateNode(const om::Graph& graph, const om::Node& node);

// Runs a whole graph once: the content of its outputs for the given content of its inputs. For tests and tools: it
// lowers and allocates every time.
Result<std::vector<om::Bytes>> EvaluateGraph(const om::Graph& graph, const std::vector<om::Bytes>& inputs);

}  // namespace npustream::program
