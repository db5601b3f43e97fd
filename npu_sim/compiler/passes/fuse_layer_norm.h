#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// (x − mean(x)) / sqrt(mean((x − mean(x))²) + epsilon), over the last axes, with the factors and offsets that may follow,
// becomes one LayerNormalization.
Status FuseLayerNorm(om::Graph& graph);

}  // namespace npustream::compiler
