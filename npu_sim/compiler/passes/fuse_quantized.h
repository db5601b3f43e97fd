#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Puts operators on integers in place of Dequantize – operator – Quantize, wherever there is a kernel for it:
// convolutions (whose result may also stay real), sums and products, and whatever only moves or picks elements when the
// integers mean the same before and after. A join's parts that mean something else are looked up first.
Status FuseQuantized(om::Graph& graph);

// A table that follows a convolution of bytes, and nobody else does, is looked up while the result is in the cache: it
// becomes the convolution's fifth input.
Status FuseConvLookup(om::Graph& graph);

}  // namespace npustream::compiler
