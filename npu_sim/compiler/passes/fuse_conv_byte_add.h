#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// A ByteAdd of a convolution's bytes, which nobody else reads, is done while they are in the cache: its other operand
// becomes the convolution's sixth input.
Status FuseConvByteAdd(om::Graph& graph);

}  // namespace npustream::compiler
