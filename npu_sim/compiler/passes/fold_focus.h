#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// A convolution on a picture that was taken apart into its four phases of even and odd rows and columns (YOLO's
// "focus": slices with step 2, joined as channels) becomes a convolution on the picture itself, with twice the kernel,
// stride and padding. It computes the same sums without the copies.
Status FoldFocus(om::Graph& graph);

}  // namespace npustream::compiler
