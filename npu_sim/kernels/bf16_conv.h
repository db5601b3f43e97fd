#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"

// Convolutions in bfloat16: dense ones with their operands rounded, on AMX's tiles, and depthwise ones. Sums, bias,
// residual and activation are float32. Source, residual and result are float32 or bfloat16, whatever their tensors are.
namespace npustream::kernels {

// The attribute of a Conv that asks for it, and its value.
inline constexpr const char* kComputeType = "compute_type";
inline constexpr const char* kComputeBf16 = "bfloat16";

// Whether the node asks for it and this CPU has the tiles; the convolution must be
// one that CanBlockedConv takes.
bool CanBf16Conv(const ConvShape& shape, const Problem& problem);

// Whether a source, residual or result is bfloat16, which no other convolution reads.
bool HasBf16Tensors(const Problem& problem);

Result<Choice> ChooseBf16Conv(const ConvShape& shape, const Problem& problem);
// Checks sizes and layouts again.
Result<std::unique_ptr<Executor>> PrepareBf16Conv(const ConvShape& shape, const Activation& activation,
                                                  const Problem& problem);

}  // namespace npustream::kernels
