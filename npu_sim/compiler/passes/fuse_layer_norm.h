#pragma once

#include "base/status.h"
#include "npu_sim/compiler/passes/fusion_limits.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// (x − mean(x)) / sqrt(mean((x − mean(x))²) + epsilon), over the last axes, with the factors and offsets that may follow,
// becomes one LayerNormalization. Not where a row with its factors and offsets would not fit the chip.
Status FuseLayerNorm(om::Graph& graph, const FusionLimits& limits);

}  // namespace npustream::compiler
