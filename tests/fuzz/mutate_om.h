#pragma once

#include "npu_sim/om/graph.h"
#include "tests/fuzz/random.h"

namespace npustream::fuzz {

// Size and checksum in the header made right, so that what lies behind them is reached.
void MendOm(om::Bytes& file);

// Changes an OM in some places of its meaning: values, buffers, steps, attributes, constants, ports; in the portable graph
// and in the lowering. Half the time the buffers of the lowering are then made to fit their values again, each with room
// around it, so that more than the sizes is put to the test. False when `file` is no OM with metadata of its own.
bool MutateOm(om::Bytes& file, Random& random);

}  // namespace npustream::fuzz
