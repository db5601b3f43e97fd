#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/om/om_reader.h"

namespace npustream::program {

// The lowered plans of a file, one for each of its plans: those stored in it when this CPU and engine understand them,
// else made anew. They may point into the file.
Result<std::vector<om::NativePlan>> NativePlans(const om::OmFile& file);

}  // namespace npustream::program
