#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// The largest tensor that a model may have, and the highest rank. Far above any real network; keeps arithmetic on
// sizes from a hostile file inside 64 bits.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 34;
inline constexpr size_t kMaxRank = 8;

// Whether `dims` describe a tensor within these limits. kInvalidArgument with the rest of a sentence ("has …").
Status CheckDims(const om::Dims& dims, om::DataType type);

}  // namespace npustream::compiler
