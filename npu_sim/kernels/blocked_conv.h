#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"
#include "npu_sim/kernels/simd/simd.h"

// Our own convolution on blocked layouts, with the activation applied while a row is still in the first-level cache.
namespace npustream::kernels {

// Whether channels of each group fill blocks (or there is one channel per group, or one group).
bool GroupsFillBlocks(const ConvShape& shape, Isa isa);

// Whether it is meant for this convolution: vector hardware, a constant bias, and groups that fill blocks, alone or some of
// them together.
bool CanBlockedConv(const ConvShape& shape, const Problem& problem);

// The packed constant of a depthwise convolution, weights and biases in float32, and its size.
om::Bytes PackDepthwise(const ConvShape& shape, const Problem& problem);
size_t PackedDepthwiseBytes(const ConvShape& shape, Isa isa);
// What all rows of a group of channels share; `packed` is that constant.
DepthwiseRow RowsOfGroup(const ConvShape& shape, const float* packed, int64_t group, int64_t block);
// Sets the kernel rows that lie in the picture when result row `oh` is computed. Returns the source row under the first.
int64_t PlaceWindow(const ConvShape& shape, int64_t oh, DepthwiseRow& row);

// Layouts, weights and bias packed as one constant, scratch.
Result<Choice> ChooseBlockedConv(const ConvShape& shape, const Problem& problem);
// Checks sizes and layouts again.
Result<std::unique_ptr<Executor>> PrepareBlockedConv(const ConvShape& shape, const Activation& activation,
                                                     const Problem& problem);

}  // namespace npustream::kernels
