#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"

// 3x3 convolutions by Winograd's method (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015):
// tiles of the source are transformed, every one of their points is a matrix product over the channels, and the sums are
// transformed back into squares of results.
namespace npustream::kernels {

// Whether it is expected to be much quicker than the direct method. A function of shape and instruction set alone.
bool CanWinogradConv(const ConvShape& shape, const Problem& problem);
Result<Choice> ChooseWinogradConv(const ConvShape& shape, const Problem& problem);
Result<std::unique_ptr<Executor>> PrepareWinogradConv(const ConvShape& shape, const Activation& activation,
                                                      const Problem& problem);

}  // namespace npustream::kernels
