#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Recognises activations that exporters spell out and replaces each by one node:
//   x · Sigmoid(x) → Silu · x · Tanh(Softplus(x)) → Mish · Clip(x + 3, 0, 6) / 6 → HardSigmoid ·
//   x · HardSigmoid(x; 1/6, 1/2) and x · Clip(x + 3, 0, 6) / 6 → HardSwish · x / 2 · (1 + Erf(x / √2)) → Gelu,
//   the same with Tanh(√(2/π) · (x + 0.044715 · x³)) in place of Erf · Max(x, αx) → LeakyRelu · Clip(αx + β, 0, 1) →
//   HardSigmoid.
// The parts stay for other readers; RemoveDeadCode takes those that nobody reads any more.
Status FuseSilu(om::Graph& graph);

}  // namespace npustream::compiler
