#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::program {

// Computes a node all of whose inputs are constants, for constant folding: the content of each of its outputs, in
// plain layout. `graph` gives types and dims of the tensors.
Result<std::vector<om::Bytes>> EvaluateNode(const om::Graph& graph, const om::Node& node);

// A whole graph made ready to run again and again, for tools. Values in the middle are seen by making them outputs of
// the graph.
class GraphEvaluator {
 public:
  static Result<std::unique_ptr<GraphEvaluator>> Create(const om::Graph& graph);
  ~GraphEvaluator();

  // The content of the outputs for the given content of the inputs.
  Result<std::vector<om::Bytes>> Run(const std::vector<om::Bytes>& inputs) const;

 private:
  struct State;
  explicit GraphEvaluator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The same for one run.
Result<std::vector<om::Bytes>> EvaluateGraph(const om::Graph& graph, const std::vector<om::Bytes>& inputs);

}  // namespace npustream::program
