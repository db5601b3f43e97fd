#pragma once

#include <set>
#include <string>
#include <vector>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Where a graph of real numbers can be quantised.
struct QuantizationSites {
  std::vector<size_t> layers;   // convolutions that can run on bytes, by node; also those that the user keeps real
  std::vector<bool> quantised;  // by node: those of `layers` that are to run on bytes
  std::vector<bool> as_bytes;   // by tensor: whether it becomes bytes
  // By tensor: those that must share one scale have the same number, as operators that only pick elements have no
  // arithmetic to change scales with.
  std::vector<om::TensorId> scale_group;
};

// Whether `real_nodes` has the node: by its name, the name of its first result, or as "OpType::Conv".
bool StaysReal(const om::Graph& graph, const om::Node& node, const std::set<std::string>& real_nodes);

// Bytes are wanted by convolutions. Operators that can hand them on (additions, element-wise functions, joins, splits,
// …) want them only when somebody behind them does, so that a model's last layers, whose results go to exponentials and
// coordinates, write real numbers. Nodes of `real_nodes` neither want bytes nor hand them on.
QuantizationSites FindQuantizationSites(const om::Graph& graph, const std::set<std::string>& real_nodes);

}  // namespace npustream::compiler
