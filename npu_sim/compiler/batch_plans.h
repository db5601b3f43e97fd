#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/compile.h"

namespace npustream::compiler {

// A model imported for all of its batch sizes.
struct BatchPlans {
  // Graphs before any pass. Either one for a single image (per_image), which serves every gear, or one per gear.
  std::vector<om::OmPlan> plans;
  std::vector<int64_t> gears;  // ascending, at least one
};

// Imports the model for the batch sizes that the options ask for. One plan that is per_image where every image is
// treated by itself: a model exported for batch 1, or one of which shape inference at another batch shows it. Else one
// plan per gear.
Result<BatchPlans> ImportBatchPlans(const OnnxModel& model, const CompileOptions& options);

}  // namespace npustream::compiler
