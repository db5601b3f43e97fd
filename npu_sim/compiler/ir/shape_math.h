#pragma once

#include <cstdint>
#include <optional>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Constants of at most this many elements are computed while importing: the arithmetic on shapes that exporters leave
// in a graph. Whatever is larger is real data and belongs to the pass FoldConstants.
inline constexpr int64_t kMaxShapeMathElements = 4096;

// The content of the only output of `node` when it is small and all inputs are constants. Element-wise arithmetic and
// comparison, Cast, Concat, Gather, Slice, Expand, Reshape, Where and reductions to a scalar, in any mix of types, and
// whatever there is a kernel for. Nothing otherwise. Types and dims in `graph` must be right.
std::optional<om::Bytes> EvaluateShapeMath(const om::Graph& graph, const om::Node& node);

}  // namespace npustream::compiler
