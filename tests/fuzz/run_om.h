#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/om_reader.h"

namespace npustream::fuzz {

// Models that need more are not run: a legitimate one may be large, and a fuzzer is after the others.
inline constexpr size_t kMaxBytes = size_t{1} << 20;

// Bytes of all tensors of a graph, up to kMaxBytes + 1.
size_t TensorBytes(const om::Graph& graph);

// The OM in `bytes` is read and, when it is small, loaded and run once with its largest batch. Whatever is wrong with it
// is the Status. Memory between the plan's buffers is out of bounds for the kernels under AddressSanitizer.
Status TryOm(const om::Bytes& bytes);

}  // namespace npustream::fuzz
