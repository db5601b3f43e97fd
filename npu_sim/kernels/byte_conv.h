#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"

// Convolution of quantised tensors: bytes times signed bytes, summed exactly in 32 bits; then scale, bias, residual,
// activation, and rounding to the result's bytes (or a result of real numbers) while the sums are in the first-level
// cache.
namespace npustream::kernels {

// x is uint8 with a quantisation: everything else must fit that.
bool IsByteConv(const Problem& problem);

// Types and quantisations: x uint8 (one scale), weights int8 (one scale or one per result channel, zero points 0), bias
// float32 or int32 in steps of the products, residual and result uint8 (one scale); the result may be float32.
Status CheckByteConv(const ConvShape& shape, const Activation& activation, const Problem& problem);
// Layouts; weights, biases and scales packed as one constant; scratch.
Result<Choice> ChooseByteConv(const ConvShape& shape, const Activation& activation, const Problem& problem);
// Checks sizes and layouts again.
Result<std::unique_ptr<Executor>> PrepareByteConv(const ConvShape& shape, const Activation& activation,
                                                  const Problem& problem);

}  // namespace npustream::kernels
