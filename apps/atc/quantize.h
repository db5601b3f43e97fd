#pragma once

#include "apps/atc/flags.h"
#include "apps/atc/outcome.h"
#include "npu_sim/compiler/compile.h"

namespace npustream::atc {

// --compression_optimize_conf and --keep_dtype: calibrates the model and puts the outcome into the options.
Check Quantize(const FlagValues& flags, const compiler::OnnxModel& model, compiler::CompileOptions& options);

}  // namespace npustream::atc
