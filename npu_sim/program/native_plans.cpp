#include "npu_sim/program/native_plans.h"

#include "npu_sim/kernels/isa.h"
#include "npu_sim/program/lowering.h"

namespace npustream::program {

Result<std::vector<om::NativePlan>> NativePlans(const om::OmFile& file) {
  std::vector<om::NativePlan> plans;
  for (size_t i = 0; i < file.plan_count(); ++i) {
    const om::NativePlan* stored = file.native(i);
    if (stored && stored->isa == kernels::ToString(kernels::RunningIsa()) &&
        stored->engine == kernels::EngineVersion()) {
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
