#pragma once

#include "apps/atc/flags.h"
#include "apps/atc/outcome.h"

namespace npustream::atc {

// Mode 1: writes the model of --model (ONNX), or of --om, as JSON to --json. An ONNX model takes the form of protobuf's
// JSON (graph.input[].type.tensorType.shape.dim[].dimValue or dimParam, graph.node[].opType …) without the weights'
// content; every input and output also has a plain "shape", with -1 for open dimensions.
Check WriteModelJson(const FlagValues& flags);

}  // namespace npustream::atc
