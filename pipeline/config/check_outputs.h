#pragma once

#include "base/status.h"
#include "pipeline/config/run_config.h"

namespace npustream::pipeline {

// kInvalidArgument when a file would be written that is read as well (a source, a model, the configuration itself), or
// written by two outputs: both would be lost.
Status CheckOutputs(const RunConfig& config);

}  // namespace npustream::pipeline
