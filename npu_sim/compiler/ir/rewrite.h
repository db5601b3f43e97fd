#pragma once

#include <string>
#include <vector>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

inline om::Tensor& TensorOf(om::Graph& graph, om::TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }
inline const om::Tensor& TensorOf(const om::Graph& graph, om::TensorId id) {
  return graph.tensors[static_cast<size_t>(id)];
}

// Who writes and reads each tensor of a graph, by node index. Rebuilt by a pass after it moved or removed nodes.
class Uses {
 public:
  explicit Uses(const om::Graph& graph);
  // The node that writes `id`, or −1.
  int Producer(om::TensorId id) const { return id == om::kNoTensor ? -1 : producers_[static_cast<size_t>(id)]; }
  // The nodes that read `id`; a node that reads it twice stands there twice.
  const std::vector<int>& Consumers(om::TensorId id) const { return consumers_[static_cast<size_t>(id)]; }
  bool IsGraphOutput(om::TensorId id) const { return is_output_[static_cast<size_t>(id)]; }
  // The one node that reads `id`, when nobody else does and it is no output of the graph; else −1.
  int OnlyConsumer(om::TensorId id) const;

 private:
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> is_output_;
};

om::TensorId AddTensor(om::Graph& graph, om::Tensor tensor);

// Lets every reader of `from` (nodes and graph outputs) read `to` instead. A graph output's name is kept: when `from`
// is one, `to` takes its name. False, and nothing done, when that is impossible (`to` is an input, a constant or
// another output itself).
bool ReplaceTensor(om::Graph& graph, om::TensorId from, om::TensorId to);

// Removes the nodes marked true, keeping the order of the others.
void EraseNodes(om::Graph& graph, const std::vector<bool>& dead);

}  // namespace npustream::compiler
