#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Models of frameworks that keep channels last stand between transpositions, one pair around each convolution. Moves
// transpositions behind element-wise operators, Concat, Pad, Reduce…, Resize, Slice, Softmax and Split, until they meet the
// ones that turn back and vanish with them. Done for each order of axes as a whole, and only where fewer elements are moved
// afterwards. Then those that bring channels to the front move up over what stands between them and the model's input.
Status SinkTransposes(om::Graph& graph);

}  // namespace npustream::compiler
