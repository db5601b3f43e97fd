#include "npu_sim/program/model_report.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/program/native_plans.h"

namespace npustream::program {
namespace {

std::vector<OperatorUse> OperatorsOf(const om::NativePlan& plan) {
  std::map<std::string, OperatorUse> uses;
  std::map<std::string, std::map<std::string, size_t>> implementations;
  std::set<int32_t> counted;  // constants that several steps share belong to the first
  for (const om::NativeStep& step : plan.steps) {
    OperatorUse& use = uses[step.op];
    use.op = step.op;
    ++use.steps;
    ++implementations[step.op][step.implementation];
    for (const int32_t id : step.inputs) {
      if (id == om::kNoTensor) continue;
      const om::NativeValue& value = plan.values[static_cast<size_t>(id)];
      if (value.place != om::Place::kConstant || !counted.insert(value.index).second) continue;
      use.weight_bytes += plan.constants[static_cast<size_t>(value.index)].bytes.size();
    }
  }
  std::vector<OperatorUse> result;
  for (auto& [op, use] : uses) {
    const auto& found = implementations[op];
    use.implementation = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
                           return a.second < b.second;
                         })->first;
    result.push_back(std::move(use));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const OperatorUse& a, const OperatorUse& b) { return a.weight_bytes > b.weight_bytes; });
  return result;
}

}  // namespace

Result<ModelReport> ReportModel(const om::OmFile& file) {
  ModelReport report;
  NPUSTREAM_ASSIGN_OR_RETURN(const NativePlans plans, NativePlans::Of(file));
  for (size_t i = 0; i < plans.size(); ++i) {
    PlanReport plan;
    plan.gears = file.plan_is_per_image(i) ? file.info().gears : std::vector<int64_t>{file.plan_batch(i)};
    plan.operators = OperatorsOf(plans[i]);
    plan.pool_bytes = plans[i].arena_bytes, plan.pool_lower_bound = plans[i].arena_lower_bound;
    report.plans.push_back(std::move(plan));
  }
  for (const om::NativePlan& stored : file.natives(0)) report.packed_for.push_back(stored.isa);
  report.packed_for_this_cpu = StoredPlan(file, 0) != nullptr;
  report.memory = Program::Query(plans, 1);
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Program::Load(file, plans, 1));
  report.load = program->load_times();
  return report;
}

std::string ToText(const ModelReport& report) {
  std::string text;
  uint64_t weights = 0;
  for (const PlanReport& plan : report.plans) {
    for (const OperatorUse& use : plan.operators) weights += use.weight_bytes;
  }
  for (const PlanReport& plan : report.plans) {
    text += fmt::format("plan for batches of {}: pool {} B per core, {} B alive at once ({:.2f}x)\n",
                        fmt::join(plan.gears, ", "), plan.pool_bytes, plan.pool_lower_bound,
                        plan.pool_lower_bound > 0 ? static_cast<double>(plan.pool_bytes) / static_cast<double>(plan.pool_lower_bound) : 1.0);
    for (const OperatorUse& use : plan.operators) {
      text += fmt::format("  {:<20} {:>5} steps {:>12} B {:>5.1f} %  {}\n", use.op, use.steps, use.weight_bytes,
                          weights > 0 ? 100.0 * static_cast<double>(use.weight_bytes) / static_cast<double>(weights) : 0.0,
                          use.implementation);
    }
  }
  const LoadTimes& load = report.load;
  text += fmt::format("memory: {} B of weights (shared by all cores), {} B of pool per core, both 64-byte aligned\n", report.memory.weight_bytes,
                      report.memory.work_bytes);
  text += fmt::format("packed weights: {}; the file has {}\n",
                      report.packed_for_this_cpu ? "those of the file" : "made while loading, for this CPU",
                      report.packed_for.empty() ? "none" : fmt::format("{}", fmt::join(report.packed_for, ", ")));
  text += fmt::format("load: parse and verify {:.2f} ms, memory planning {:.2f} ms, weight transfer {:.2f} ms, task registration {:.2f} ms\n",
                      load.parse_ms, load.plan_ms, load.transfer_ms, load.register_ms);
  return text;
}

}  // namespace npustream::program
