#include "npu_sim/program/native_plans.h"

#include <algorithm>

#include "base/clock.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/program/lowering.h"

namespace npustream::program {

const om::NativePlan* StoredPlan(const om::OmFile& file, size_t plan) {
  const std::string isa = kernels::ToString(kernels::RunningIsa());
  const std::string packings[] = {kernels::PackingVersion(false), kernels::PackingVersion(true)};
  for (const om::NativePlan& stored : file.natives(plan)) {
    if (stored.isa == isa && std::find(std::begin(packings), std::end(packings), stored.engine) != std::end(packings))
      return &stored;
  }
  return nullptr;
}

Result<NativePlans> NativePlans::Of(const om::OmFile& file) {
  const int64_t begin_ns = Clock::System().NowNs();
  NativePlans plans;
  for (size_t i = 0; i < file.plan_count(); ++i) {
    if (const om::NativePlan* stored = StoredPlan(file, i)) {
      plans.plans_.push_back(stored);
      continue;
    }
    NPUSTREAM_ASSIGN_OR_RETURN(const om::Graph graph, file.LoadGraph(i));
    NPUSTREAM_ASSIGN_OR_RETURN(om::NativePlan plan, Lower(graph));
    plans.made_.push_back(std::make_unique<const om::NativePlan>(std::move(plan)));
    plans.plans_.push_back(plans.made_.back().get());
  }
  plans.making_ms_ = static_cast<double>(Clock::System().NowNs() - begin_ns) * 1e-6;
  return plans;
}

}  // namespace npustream::program
