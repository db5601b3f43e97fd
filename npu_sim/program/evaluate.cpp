#include "npu_sim/program/evaluate.h"

#include <algorithm>

#include <fmt/format.h>

#include "npu_sim/program/aligned_memory.h"
#include "npu_sim/program/lowering.h"
#include "npu_sim/program/plan_runner.h"

namespace npustream::program {

Result<std::vector<om::Bytes>> EvaluateGraph(const om::Graph& graph, const std::vector<om::Bytes>& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::NativePlan plan, Lower(graph));
  if (inputs.size() != graph.inputs.size())
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} inputs, expected {}", inputs.size(), graph.inputs.size()));
  NPUSTREAM_ASSIGN_OR_RETURN(AlignedMemory arena, AlignedMemory::Allocate(plan.arena_bytes));
  // Constants are copied: packed ones must be aligned.
  std::vector<AlignedMemory> copies;
  std::vector<const std::byte*> constants;
  for (const om::Blob& blob : plan.constants) {
    NPUSTREAM_ASSIGN_OR_RETURN(AlignedMemory copy, AlignedMemory::Allocate(blob.bytes.size()));
    std::copy(blob.bytes.begin(), blob.bytes.end(), copy.data());
    constants.push_back(copy.data());
    copies.push_back(std::move(copy));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const auto runner, PlanRunner::Create(plan, constants, {arena.data()}));
  std::vector<const std::byte*> input_addresses;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() != graph.tensors[graph.inputs[i]].ByteSize())
      return Status(StatusCode::kInvalidArgument, fmt::format("input {} has {} bytes", i, inputs[i].size()));
    input_addresses.push_back(inputs[i].data());
  }
  std::vector<om::Bytes> outputs;
  std::vector<std::byte*> output_addresses;
  for (const om::TensorId id : graph.outputs) outputs.emplace_back(graph.tensors[id].ByteSize());
  for (om::Bytes& output : outputs) output_addresses.push_back(output.data());
  NPUSTREAM_RETURN_IF_ERROR(runner->Run(0, input_addresses, output_addresses));
  return outputs;
}

Result<std::vector<om::Bytes>> EvaluateNode(const om::Graph& graph, const om::Node& node) {
  // A graph of this node alone, with its tensors renumbered.
  om::Graph single;
  om::Node copy = node;
  const auto add = [&](om::TensorId& id) {
    if (id == om::kNoTensor) return;
    single.tensors.push_back(graph.tensors[id]);
    id = static_cast<om::TensorId>(single.tensors.size() - 1);
  };
  for (om::TensorId& id : copy.inputs) {
    if (id != om::kNoTensor && !graph.tensors[id].is_constant()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("input '{}' of '{}' is not a constant", graph.tensors[id].name, node.name));
    }
    add(id);
  }
  for (om::TensorId& id : copy.outputs) {
    add(id);
    single.tensors[id].constant = nullptr;
    single.outputs.push_back(id);
  }
  single.nodes.push_back(std::move(copy));
  return EvaluateGraph(single, {});
}

}  // namespace npustream::program
