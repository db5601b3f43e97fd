#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"

// Convolutions whose results have few channels, over plain tensors on both sides: vectors of neighbouring pixels, so that
// no lane is spent on channels that fill up a group.
namespace npustream::kernels {

// A function of the shape, the instruction set and the source's layout alone.
bool CanPlaneConv(const ConvShape& shape, const Problem& problem);
Result<Choice> ChoosePlaneConv(const ConvShape& shape, const Problem& problem);
Result<std::unique_ptr<Executor>> PreparePlaneConv(const ConvShape& shape, const Activation& activation,
                                                   const Problem& problem);

}  // namespace npustream::kernels
