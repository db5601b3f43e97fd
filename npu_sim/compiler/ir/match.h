#pragma once

#include <optional>
#include <vector>

#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// What passes ask about the operands of a node.

// The value of a constant of one element; nothing for anything else.
std::optional<float> ScalarValue(const om::Graph& graph, om::TensorId id);
// Whether `id` is a constant of one element which is `value` up to rounding.
bool IsScalar(const om::Graph& graph, om::TensorId id, float value);

// For the node Op(tensor, constant scalar) in either order of inputs: the tensor and the scalar.
struct ScalarOperand {
  om::TensorId tensor = om::kNoTensor;
  float scalar = 0;
};
std::optional<ScalarOperand> SplitScalar(const om::Graph& graph, const om::Node& node);

// The values of a float constant that broadcasts over a tensor of rank `rank` with `channels` channels on axis 1 as one
// value per channel; a single value is repeated. Nothing when it varies along another axis or is not constant.
std::optional<std::vector<float>> PerChannelValues(const om::Graph& graph, om::TensorId id, size_t rank,
                                                   int64_t channels);

// The node that writes `id`, if it is one of `op`; null otherwise.
const om::Node* ProducerOf(const om::Graph& graph, const Uses& uses, om::TensorId id, const char* op);

inline bool HasActivation(const om::Node& node) { return node.attributes.count("activation") != 0; }
// Conv's fourth input.
inline bool HasResidual(const om::Node& node) { return node.inputs.size() > 3 && node.inputs[3] != om::kNoTensor; }

}  // namespace npustream::compiler
