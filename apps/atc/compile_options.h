#pragma once

#include <string>

#include "apps/atc/flags.h"
#include "apps/atc/outcome.h"
#include "npu_sim/compiler/compile.h"

namespace npustream::atc {

// What the flags of a conversion say, checked against the model: shapes, gears, AIPP, outputs, chip, switches.
Outcome<compiler::CompileOptions> ReadCompileOptions(const FlagValues& flags, const compiler::OnnxModel& model);

}  // namespace npustream::atc
