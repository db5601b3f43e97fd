#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/om/om_reader.h"

namespace npustream::program {

// The lowering of a plan that is stored in the file, when this CPU and engine understand it; else null.
const om::NativePlan* StoredPlan(const om::OmFile& file, size_t plan);

// The lowered plans of a file, one for each of its plans: those stored in it where they serve, else made anew. They may point into the file.
Result<std::vector<om::NativePlan>> NativePlans(const om::OmFile& file);

}  // namespace npustream::program
