#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::kernels {

// Whether every attribute of `node` that an operator of ours may have is of its kind and inside its range: what a kernel
// reads it then can count, index and divide by. Names that no operator has are of no effect; operators of other domains
// (with a dot in their name) may have any.
Status CheckAttributes(const om::Node& node);

}  // namespace npustream::kernels
