#include "npu_sim/program/evaluate.h"

#include <algorithm>

#include <fmt/format.h>

#include "npu_sim/program/aligned_memory.h"
#include "npu_sim/program/lowering.h"
#include "npu_sim/program/plan_runner.h"

namespace npustream::program {

struct GraphEvaluator::State {
  std::vector<size_t> input_bytes, output_bytes;
  std::vector<AlignedMemory> constants;  // copies, as packed ones must be aligned
  AlignedMemory arena;
  std::unique_ptr<PlanRunner> runner;
};

GraphEvaluator::GraphEvaluator(std::unique_ptr<State> state) : state_(std::move(state)) {}
GraphEvaluator::~GraphEvaluator() = default;

Result<std::unique_ptr<GraphEvaluator>> GraphEvaluator::Create(const om::Graph& graph) {
  auto state = std::make_unique<State>();
  NPUSTREAM_ASSIGN_OR_RETURN(const om::NativePlan plan, Lower(graph));
  NPUSTREAM_ASSIGN_OR_RETURN(state->arena, AlignedMemory::Allocate(plan.arena_bytes));
  std::vector<const std::byte*> addresses;
  for (const om::Blob& blob : plan.constants) {
    NPUSTREAM_ASSIGN_OR_RETURN(AlignedMemory copy, AlignedMemory::Allocate(blob.bytes.size()));
    std::copy(blob.bytes.begin(), blob.bytes.end(), copy.data());
    addresses.push_back(copy.data());
    state->constants.push_back(std::move(copy));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(state->runner, PlanRunner::Create(plan, addresses, {state->arena.data()}));
  for (const om::TensorId id : graph.inputs) state->input_bytes.push_back(graph.tensors[id].ByteSize());
  for (const om::TensorId id : graph.outputs) state->output_bytes.push_back(graph.tensors[id].ByteSize());
  return std::unique_ptr<GraphEvaluator>(new GraphEvaluator(std::move(state)));
}

Result<std::vector<om::Bytes>> GraphEvaluator::Run(const std::vector<om::Bytes>& inputs) const {
  if (inputs.size() != state_->input_bytes.size())
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} inputs, expected {}", inputs.size(), state_->input_bytes.size()));
  std::vector<const std::byte*> input_addresses;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() != state_->input_bytes[i])
      return Status(StatusCode::kInvalidArgument, fmt::format("input {} has {} bytes", i, inputs[i].size()));
    input_addresses.push_back(inputs[i].data());
  }
  std::vector<om::Bytes> outputs;
  std::vector<std::byte*> output_addresses;
  for (const size_t bytes : state_->output_bytes) outputs.emplace_back(bytes);
  for (om::Bytes& output : outputs) output_addresses.push_back(output.data());
  NPUSTREAM_RETURN_IF_ERROR(state_->runner->Run(0, input_addresses, output_addresses));
  return outputs;
}

Result<std::vector<om::Bytes>> EvaluateGraph(const om::Graph& graph, const std::vector<om::Bytes>& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<GraphEvaluator> evaluator, GraphEvaluator::Create(graph));
  return evaluator->Run(inputs);
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
