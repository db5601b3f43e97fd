#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"

// Dense convolutions whose operands are rounded to bfloat16, on AMX's tiles. Sums, bias, residual and activation are
// float32, and so are the tensors between operators.
namespace npustream::kernels {

// The attribute of a Conv that asks for it, and its value.
inline constexpr const char* kComputeType = "compute_type";
inline constexpr const char* kComputeBf16 = "bfloat16";

// Whether the node asks for it and this CPU has the tiles; the convolution must be
// one that CanBlockedConv takes.
bool CanBf16Conv(const ConvShape& shape, const Problem& problem);

Result<Choice> ChooseBf16Conv(const ConvShape& shape, const Problem& problem);
// Checks sizes and layouts again.
Result<std::unique_ptr<Executor>> PrepareBf16Conv(const ConvShape& shape, const Activation& activation,
                                                  const Problem& problem);

}  // namespace npustream::kernels
