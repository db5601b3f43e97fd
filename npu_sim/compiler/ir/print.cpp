#include "npu_sim/compiler/ir/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"

namespace npustream::compiler {
namespace {

constexpr size_t kMostValuesShown = 16;
constexpr size_t kFirstValuesShown = 4;

std::string TypeText(const om::Tensor& tensor) {
  std::string text = fmt::format("{}[{}]", om::ToString(tensor.type), fmt::join(tensor.dims, ","));
  if (!tensor.quantization) return text;
  const om::Quantization& q = *tensor.quantization;
  if (q.IsPerTensor()) return text + fmt::format(" × {} from {}", q.scales[0], q.zero_points[0]);
  if (q.scales.size() > kMostValuesShown) return text + fmt::format(" × {} scales on axis {}", q.scales.size(), q.axis);
  return text + fmt::format(" × [{}] from [{}] on axis {}", fmt::join(q.scales, ", "), fmt::join(q.zero_points, ", "),
                            q.axis);
}

std::string NameOf(const om::Graph& graph, om::TensorId id) {
  return id == om::kNoTensor ? "_" : graph.tensors[static_cast<size_t>(id)].name;
}

// FNV-1a, 32 bits: enough to see that a long constant changed.
uint32_t Checksum(const om::Bytes& bytes) {
  uint32_t hash = 2166136261u;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint32_t>(byte)) * 16777619u;
  return hash;
}

std::string ConstantText(const om::Tensor& tensor) {
  std::vector<float> values = ReadFloats(tensor).value();
  if (values.size() <= kMostValuesShown) return fmt::format("[{}]", fmt::join(values, ", "));
  values.resize(kFirstValuesShown);
  return fmt::format("[{}, ...] #{:08x}", fmt::join(values, ", "), Checksum(*tensor.constant));
}

struct AttributeText {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{}f", value); }
  std::string operator()(const std::string& value) const { return fmt::format("\"{}\"", value); }
  std::string operator()(const std::vector<int64_t>& values) const {
    return fmt::format("[{}]", fmt::join(values, ","));
  }
  std::string operator()(const std::vector<float>& values) const {
    return fmt::format("[{}]f", fmt::join(values, ","));
  }
};

std::vector<bool> ConstantsInUse(const om::Graph& graph) {
  std::vector<bool> used(graph.tensors.size());
  const auto mark = [&](om::TensorId id) {
    if (id != om::kNoTensor) used[static_cast<size_t>(id)] = graph.tensors[static_cast<size_t>(id)].is_constant();
  };
  for (const om::Node& node : graph.nodes) std::for_each(node.inputs.begin(), node.inputs.end(), mark);
  std::for_each(graph.outputs.begin(), graph.outputs.end(), mark);
  return used;
}

}  // namespace

std::string PrintNode(const om::Graph& graph, const om::Node& node) {
  std::vector<std::string> outputs, inputs, attributes;
  for (const om::TensorId id : node.outputs) {
    outputs.push_back(
        id == om::kNoTensor ? "_" : NameOf(graph, id) + ": " + TypeText(graph.tensors[static_cast<size_t>(id)]));
  }
  for (const om::TensorId id : node.inputs) inputs.push_back(NameOf(graph, id));
  for (const auto& [name, value] : node.attributes) {
    attributes.push_back(name + "=" + std::visit(AttributeText{}, value));
  }
  std::string text = fmt::format("{} = {}({})", fmt::join(outputs, ", "), node.op, fmt::join(inputs, ", "));
  if (!attributes.empty()) text += fmt::format(" {{{}}}", fmt::join(attributes, ", "));
  return text;
}

std::string PrintGraph(const om::Graph& graph) {
  std::string text;
  for (const om::TensorId id : graph.inputs) {
    text += fmt::format("input {}: {}\n", NameOf(graph, id), TypeText(graph.tensors[static_cast<size_t>(id)]));
  }
  const std::vector<bool> used = ConstantsInUse(graph);
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const om::Tensor& tensor = graph.tensors[i];
    if (used[i]) text += fmt::format("const {}: {} = {}\n", tensor.name, TypeText(tensor), ConstantText(tensor));
  }
  for (const om::Node& node : graph.nodes) text += PrintNode(graph, node) + "\n";
  for (const om::TensorId id : graph.outputs) text += fmt::format("output {}\n", NameOf(graph, id));
  return text;
}

}  // namespace npustream::compiler
