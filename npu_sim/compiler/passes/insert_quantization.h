#pragma once

#include "base/status.h"
#include "npu_sim/compiler/quantize/quantization_scheme.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Puts Quantize – Dequantize pairs behind the tensors of a graph of real numbers that the scheme knows, and quantised
// weights in front of convolutions, as a model with QuantizeLinear and DequantizeLinear has them: the passes after it
// make integer operators of both. Convolutions take their fused activation along.
Status InsertQuantization(om::Graph& graph, const QuantizationScheme& scheme);

}  // namespace npustream::compiler
