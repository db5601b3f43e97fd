#pragma once

#include <set>

#include "base/status.h"
#include "npu_sim/compiler/batch_plans.h"
#include "npu_sim/compiler/compile.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/om_model.h"

namespace npustream::compiler {

// Checks that every node of the plan's graph has a kernel (kUnsupported names all that have none, with the reason) and
// can be lowered for this machine, and keeps what it becomes for each of `isas`. Where that cannot be made here, a
// warning says so.
Status LowerPlan(om::OmPlan& plan, const std::set<kernels::Isa>& isas);

// The model around its plans: ports as the runtime shows them, gears, AIPP, who compiled it for what.
om::OmModel DescribeModel(BatchPlans batches, const CompileOptions& options);

}  // namespace npustream::compiler
