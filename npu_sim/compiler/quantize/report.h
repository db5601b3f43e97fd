#pragma once

#include <string>

#include "npu_sim/compiler/quantize/quantization_scheme.h"

namespace npustream::compiler {

// A line per layer and one for the network.
std::string ReportText(const QuantizationScheme& scheme);
// One JSON object (docs/quantization.md).
std::string ReportJson(const QuantizationScheme& scheme);

}  // namespace npustream::compiler
