#include "npu_sim/program/native_plans.h"

#include "npu_sim/kernels/isa.h"
#include "npu_sim/program/lowering.h"

namespace npustream::program {

const om::NativePlan* StoredPlan(const om::OmFile& file, size_t plan) {
  const om::NativePlan* stored = file.native(plan);
  const bool serves = stored && stored->isa == kernels::ToString(kernels::RunningIsa()) &&
                      stored->engine == kernels::EngineVersion();
  return serves ? stored : nullptr;
}

Result<std::vector<om::NativePlan>> NativePlans(const om::OmFile& file) {
  std::vector<om::NativePlan> plans;
  for (size_t i = 0; i < file.plan_count(); ++i) {
    if (const om::NativePlan* stored = StoredPlan(file, i)) {
      plans.push_back(*stored);
      continue;
    }
    NPUSTREAM_ASSIGN_OR_RETURN(const om::Graph graph, file.LoadGraph(i));
    NPUSTREAM_ASSIGN_OR_RETURN(om::NativePlan plan, Lower(graph));
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace npustream::program
