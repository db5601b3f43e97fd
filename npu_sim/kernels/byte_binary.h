#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {

// The constants of z = x + y on bytes with these quantisations; operands are left out.
ByteBinary ByteSum(const om::Quantization& x, const om::Quantization& y, const om::Quantization& z, ByteLimits limits);

}  // namespace npustream::kernels
