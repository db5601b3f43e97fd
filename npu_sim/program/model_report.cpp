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

std::string Shapes(const std::vector<om::PortInfo>& ports, const std::vector<om::Dims>& shapes) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < ports.size(); ++i)
    texts.push_back(fmt::format("{} [{}]", ports[i].name, fmt::join(shapes[i], ",")));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string NameOf(const om::Gear& gear) { return fmt::format("{}", fmt::join(gear.values, ",")); }

std::string LoadText(const LoadTimes& load) {
  return fmt::format("parse and verify {:.2f} ms, memory planning {:.2f} ms, weight transfer {:.2f} ms, "
                     "task registration {:.2f} ms\n",
                     load.parse_ms, load.plan_ms, load.transfer_ms, load.register_ms);
}

double Ratio(uint64_t part, uint64_t whole, double otherwise) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : otherwise;
}

std::string PlanText(const PlanReport& plan, size_t index) {
  uint64_t weights = 0;
  for (const OperatorUse& use : plan.operators) weights += use.weight_bytes;
  const bool dynamic = !plan.gears.empty() && !plan.gears.front().empty();
  std::string text = fmt::format("plan {}{}: pool {} B per core, {} B alive at once ({:.2f}x)\n", index,
                                 dynamic ? fmt::format(" for {}", fmt::join(plan.gears, "; ")) : "", plan.pool_bytes,
                                 plan.pool_lower_bound, Ratio(plan.pool_bytes, plan.pool_lower_bound, 1));
  for (const OperatorUse& use : plan.operators) {
    text += fmt::format("  {:<20} {:>5} steps {:>12} B {:>5.1f} %  {}\n", use.op, use.steps, use.weight_bytes,
                        100 * Ratio(use.weight_bytes, weights, 0), use.implementation);
  }
  return text;
}

}  // namespace

Result<ModelReport> ReportModel(const om::OmFile& file) {
  ModelReport report;
  const om::OmInfo& info = file.info();
  NPUSTREAM_ASSIGN_OR_RETURN(const NativePlans plans, NativePlans::Of(file));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Program::Load(file, plans, 1));
  for (size_t i = 0; i < plans.size(); ++i) {
    report.plans.push_back({{}, OperatorsOf(plans[i]), plans[i].arena_bytes, plans[i].arena_lower_bound,
                            program->load_times_by_plan()[i]});
  }
  report.dynamic = info.dynamic;
  for (const om::Gear& gear : info.gears) {
    report.plans[gear.plan].gears.push_back(NameOf(gear));
    if (info.dynamic == om::Dynamic::kNothing) continue;
    report.gears.push_back(fmt::format("{}: {} -> {}, plan {}", NameOf(gear), Shapes(info.inputs, gear.inputs),
                                       Shapes(info.outputs, gear.outputs), gear.plan));
  }
  for (const om::NativePlan& stored : file.natives(0)) report.packed_for.push_back(stored.isa);
  report.packed_for_this_cpu = StoredPlan(file, 0) != nullptr;
  report.memory = Program::Query(plans, 1);
  return report;
}

std::string ToText(const ModelReport& report) {
  std::string text;
  if (!report.gears.empty()) text += fmt::format("{} gears by {}\n", report.gears.size(), om::ToString(report.dynamic));
  for (const std::string& gear : report.gears) text += fmt::format("  {}\n", gear);
  for (size_t i = 0; i < report.plans.size(); ++i) text += PlanText(report.plans[i], i);
  text += fmt::format("memory: {} B of weights (shared by all cores and gears), {} B of pool per core, both 64-byte "
                      "aligned\n",
                      report.memory.weight_bytes, report.memory.work_bytes);
  text += fmt::format("packed weights: {}; the file has {}\n",
                      report.packed_for_this_cpu ? "those of the file" : "made while loading, for this CPU",
                      report.packed_for.empty() ? "none" : fmt::format("{}", fmt::join(report.packed_for, ", ")));
  size_t gears = 0;
  for (const PlanReport& plan : report.plans) {
    gears += plan.gears.size();
    const std::string count = report.plans.size() > 1 ? fmt::format(" of {} gear{}", gears, gears > 1 ? "s" : "") : "";
    text += fmt::format("load{}: {}", count, LoadText(plan.load));
  }
  return text;
}

}  // namespace npustream::program
