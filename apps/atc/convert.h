#pragma once

#include <string>
#include <vector>

#include "apps/atc/flags.h"
#include "apps/atc/outcome.h"
#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/onnx/onnx_model.h"

namespace npustream::atc {

// Mode 0: an ONNX file to an OM file, which appears whole or not at all. `command_line` goes into the OM.
Check ConvertModel(const FlagValues& flags, const std::string& command_line);

// Mode 3: compiles without writing an OM; a report in JSON goes to --check_report, whatever the result.
Check PrecheckModel(const FlagValues& flags, const std::string& command_line);

// The model file with what is wrong with --model and --framework.
Outcome<compiler::OnnxModel> ReadModel(const FlagValues& flags);

}  // namespace npustream::atc
