#include "npu_sim/compiler/ir/match.h"

#include <cmath>

#include "npu_sim/compiler/ir/constants.h"

namespace npustream::compiler {

std::optional<float> ScalarValue(const om::Graph& graph, om::TensorId id) {
  if (id == om::kNoTensor) return std::nullopt;
  const std::span<const float> values = FloatView(TensorOf(graph, id));
  if (values.size() != 1) return std::nullopt;
  return values[0];
}

bool IsScalar(const om::Graph& graph, om::TensorId id, float value) {
  const std::optional<float> found = ScalarValue(graph, id);
  return found && std::fabs(*found - value) <= 1e-6f * std::fabs(value);
}

std::optional<ScalarOperand> SplitScalar(const om::Graph& graph, const om::Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    if (const std::optional<float> value = ScalarValue(graph, node.inputs[i])) {
      return ScalarOperand{node.inputs[1 - i], *value};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<float>> PerChannelValues(const om::Graph& graph, om::TensorId id, size_t rank,
                                                   int64_t channels) {
  if (id == om::kNoTensor) return std::nullopt;
  const om::Tensor& tensor = TensorOf(graph, id);
  const std::span<const float> values = FloatView(tensor);
  if (values.size() == 1 && tensor.dims.size() <= rank) {
    return std::vector<float>(static_cast<size_t>(channels), values[0]);
  }
  if (static_cast<int64_t>(values.size()) != channels || tensor.dims.size() > rank) return std::nullopt;
  // The axis of the tensor that meets axis 1 of the other operand must hold all the values.
  const size_t missing = rank - tensor.dims.size();
  if (missing > 1 || tensor.dims[1 - missing] != channels) return std::nullopt;
  return std::vector<float>(values.begin(), values.end());
}

const om::Node* ProducerOf(const om::Graph& graph, const Uses& uses, om::TensorId id, const char* op) {
  const int producer = uses.Producer(id);
  if (producer < 0) return nullptr;
  const om::Node& node = graph.nodes[static_cast<size_t>(producer)];
  return node.op == op ? &node : nullptr;
}

}  // namespace npustream::compiler
