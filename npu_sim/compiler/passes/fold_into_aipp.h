#pragma once

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Lets an Aipp node do what a model does to its picture first: Sub, Add, Mul and Div by constants per channel that
// alone read the picture go into min_chn and var_reci_chn, (in − mean − min) · var. The node's values may then be finer
// than the FP16 of an AIPP file. Not with padding, whose value AIPP adds afterwards. A Quantize that then alone reads the
// picture, for convolutions, goes too: AIPP writes bytes.
Status FoldIntoAipp(om::Graph& graph);

}  // namespace npustream::compiler
