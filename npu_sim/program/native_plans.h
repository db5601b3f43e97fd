#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/om/constant_pool.h"
#include "npu_sim/om/om_reader.h"

namespace npustream::program {

// The lowering of a plan that is stored in the file, when this CPU and engine understand it; else null.
const om::NativePlan* StoredPlan(const om::OmFile& file, size_t plan);

// A plan of the file, lowered: as it is stored where that serves, else made anew. It may point into the file. `pool`
// collects the constants of all plans of the file.
Result<om::NativePlan> MakeNativePlan(const om::OmFile& file, size_t plan, om::ConstantPool& pool);

// All plans of a file.
Result<std::vector<om::NativePlan>> NativePlans(const om::OmFile& file);

}  // namespace npustream::program
