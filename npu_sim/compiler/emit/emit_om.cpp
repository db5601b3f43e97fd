#include "npu_sim/compiler/emit/emit_om.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

om::PortInfo DescribePort(const om::Graph& graph, om::TensorId id) {
  const om::Tensor& tensor = TensorOf(graph, id);
  return {tensor.name, tensor.type, FormatOf(graph, id)};
}

// The shapes of a gear's ports after all passes: AIPP has changed those of pictures, but never their batch.
void DescribeShapes(const om::Graph& graph, om::Gear& gear) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    om::Dims dims = TensorOf(graph, graph.inputs[i]).dims;
    if (!dims.empty()) dims[0] = gear.inputs[i][0];
    gear.inputs[i] = std::move(dims);
  }
  for (const om::TensorId id : graph.outputs) {
    om::Dims dims = TensorOf(graph, id).dims;
    if (gear.images > 1) dims[0] *= gear.images;
    gear.outputs.push_back(std::move(dims));
  }
}

Status CheckRanks(const om::OmInfo& info) {
  for (const om::Gear& gear : info.gears) {
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      const om::Dims &dims = gear.outputs[i], &first = info.gears.front().outputs[i];
      if (dims.size() == first.size()) continue;
      return {StatusCode::kInvalidArgument,
              fmt::format("output '{}' has the shape [{}] in one gear and [{}] in another: gears may differ in the "
                          "length of dimensions, not in their number",
                          info.outputs[i].name, fmt::join(first, ","), fmt::join(dims, ","))};
    }
  }
  return {};
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

Result<om::OmModel> DescribeModel(GearPlans gears, const CompileOptions& options) {
  om::OmModel model;
  model.info.toolkit_version = NPUSTREAM_VERSION;
  model.info.soc = options.soc;
  model.info.name = options.model_name;
  model.info.command_line = options.command_line;
  model.info.aipp = options.aipp;
  model.info.dynamic = options.gears.dynamic;
  model.info.gears = std::move(gears.gears);
  const om::Graph& graph = gears.plans.front().graph;
  for (const om::TensorId id : graph.inputs) model.info.inputs.push_back(DescribePort(graph, id));
  for (const om::TensorId id : graph.outputs) model.info.outputs.push_back(DescribePort(graph, id));
  for (om::Gear& gear : model.info.gears) DescribeShapes(gears.plans[gear.plan].graph, gear);
  NPUSTREAM_RETURN_IF_ERROR(CheckRanks(model.info));
  model.plans = std::move(gears.plans);
  return model;
}

}  // namespace npustream::compiler
