#pragma once

#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/compile.h"

namespace npustream::compiler {

// A model imported for all of its gears.
struct GearPlans {
  std::vector<om::OmPlan> plans;  // graphs before any pass
  std::vector<om::Gear> gears;    // with inputs as the network takes them, and outputs still missing
};

// Imports the model for the shapes that the options ask for. Gears that differ in the batch only share the plan of one
// image where every image is treated by itself: a model exported for batch 1, or one of which shape inference at another
// batch shows it. Every other gear has its own plan.
Result<GearPlans> ImportGears(const OnnxModel& model, const CompileOptions& options);

}  // namespace npustream::compiler
