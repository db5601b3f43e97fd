#include "npu_sim/compiler/emit/emit_om.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/log.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/lowering.h"

namespace npustream::compiler {
namespace {

om::Format FormatOf(const om::Graph& graph, om::TensorId id) {
  for (const om::Node& node : graph.nodes) {
    if (node.op == "Aipp" && node.inputs[0] == id) return om::Format::kNhwc;
  }
  return TensorOf(graph, id).dims.size() == 4 ? om::Format::kNchw : om::Format::kNd;
}

// `batch` replaces axis 0 of a model that treats images one by one: the dims that the user gave, or −1.
om::PortInfo DescribePort(const om::Graph& graph, om::TensorId id, std::optional<int64_t> batch) {
  const om::Tensor& tensor = TensorOf(graph, id);
  om::PortInfo port{tensor.name, tensor.type, tensor.dims, FormatOf(graph, id)};
  if (batch && !port.dims.empty()) port.dims[0] = *batch;
  return port;
}

}  // namespace

Status LowerPlan(om::OmPlan& plan, const std::set<kernels::Isa>& isas) {
  std::vector<std::string> refused;
  for (const om::Node& node : plan.graph.nodes) {
    const Status status = kernels::CheckNode(plan.graph, node);
    if (!status.ok()) refused.push_back(fmt::format("'{}' ({}): {}", node.name, node.op, status.message()));
  }
  if (!refused.empty()) {
    return {StatusCode::kUnsupported, fmt::format("{} node{} cannot be run: {}", refused.size(),
                                                  refused.size() == 1 ? "" : "s", fmt::join(refused, "; "))};
  }
  NPUSTREAM_ASSIGN_OR_RETURN(om::NativePlan here, program::Lower(plan.graph));
  for (const kernels::Isa isa : isas) {
    if (isa == kernels::RunningIsa()) {
      plan.natives.push_back(std::move(here));
      continue;
    }
    auto lowered = program::Lower(plan.graph, isa);
    if (lowered.ok()) {
      plan.natives.push_back(std::move(*lowered));
    } else {
      Log(LogLevel::kWarning, "compiler", "no packed weights for {}, where loading will take longer: {}",
          kernels::ToString(isa), lowered.status().message());
    }
  }
  return {};
}

om::OmModel DescribeModel(BatchPlans batches, const CompileOptions& options) {
  om::OmModel model;
  model.info.toolkit_version = NPUSTREAM_VERSION;
  model.info.soc = options.soc;
  model.info.name = options.model_name;
  model.info.command_line = options.command_line;
  model.info.aipp = options.aipp;
  model.info.dynamic_batch = !options.gears.empty();
  model.info.gears = std::move(batches.gears);
  std::optional<int64_t> batch;
  if (batches.plans.front().per_image) batch = model.info.gears.front();
  if (model.info.dynamic_batch) batch = -1;
  const om::Graph& graph = batches.plans.front().graph;
  for (const om::TensorId id : graph.inputs) model.info.inputs.push_back(DescribePort(graph, id, batch));
  for (const om::TensorId id : graph.outputs) model.info.outputs.push_back(DescribePort(graph, id, batch));
  model.plans = std::move(batches.plans);
  return model;
}

}  // namespace npustream::compiler
