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

Result<om::NativePlan> MakeNativePlan(const om::OmFile& file, size_t plan, om::ConstantPool& pool) {
  // The file holds equal constants once.
  if (const om::NativePlan* stored = StoredPlan(file, plan)) return *stored;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Graph graph, file.LoadGraph(plan));
  NPUSTREAM_ASSIGN_OR_RETURN(om::NativePlan lowered, Lower(graph));
  if (file.plan_count() > 1) pool.Share(lowered);
  return lowered;
}

Result<std::vector<om::NativePlan>> NativePlans(const om::OmFile& file) {
  std::vector<om::NativePlan> plans;
  om::ConstantPool pool;
  for (size_t i = 0; i < file.plan_count(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(om::NativePlan plan, MakeNativePlan(file, i, pool));
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace npustream::program
