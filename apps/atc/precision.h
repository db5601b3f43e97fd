#pragma once

#include <string>
#include <vector>

#include "apps/atc/flags.h"
#include "apps/atc/outcome.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/compiler/passes/lower_precision.h"

namespace npustream::atc {

// The lines of --keep_dtype's file, without blanks around them; none without the flag. A node's name or OpType::NAME each.
Outcome<std::vector<std::string>> KeepDtypeLines(const FlagValues& flags);

// --precision_mode or --precision_mode_v2 (E10047 for both) with --keep_dtype and --modify_mixlist. Without a mode
// everything is computed in FP32, which is the fastest here, and not in FP16 as on a card.
Outcome<compiler::Precision> ReadPrecision(const FlagValues& flags, const compiler::OnnxModel& model);

}  // namespace npustream::atc
