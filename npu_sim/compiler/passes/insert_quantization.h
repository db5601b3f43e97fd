#pragma once

#include "base/status.h"
#include "npu_sim/compiler/quantize/quantization_scheme.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// At the ends of the names of what stands for a tensor: its bytes, and the real numbers that those mean.
inline constexpr const char* kBytesSuffix = ".bytes";
inline constexpr const char* kRoundedSuffix = ".rounded";

// Puts Quantize – Dequantize pairs behind the tensors of a graph of real numbers that the scheme knows, and quantised
// weights in front of convolutions, as a model with QuantizeLinear and DequantizeLinear has them: the passes after it
// make integer operators of both. Convolutions take their fused activation along.
Status InsertQuantization(om::Graph& graph, const QuantizationScheme& scheme);

}  // namespace npustream::compiler
