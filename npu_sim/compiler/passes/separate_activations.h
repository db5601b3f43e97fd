#pragma once

#include "base/status.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// The reverse of FuseConvActivation for functions that cost more than looking bytes up in a table (Silu, HardSwish,
// Sigmoid, …): between a convolution and its function there can be bytes then. Those that stay on real numbers are
// fused again afterwards.
inline constexpr const char* kBeforeActivation = ".before";  // at the end of the name of what is between them
Status SeparateActivations(om::Graph& graph);

// What the function that makes tensor `id` was separated from; kNoTensor when no such function makes it.
om::TensorId BeforeFunction(const om::Graph& graph, const Uses& uses, om::TensorId id);

}  // namespace npustream::compiler
