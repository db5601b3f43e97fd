#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/simd/vec_avx512.h"

// The parts need the vector type.
#include "npu_sim/kernels/simd/functions.inl"
#include "npu_sim/kernels/simd/quick.inl"

// Uses both.
#include "npu_sim/kernels/simd/bf16.inl"

namespace npustream::kernels {

void FillBf16Amx(SimdTable& table) { FillBf16(table); }

}  // namespace npustream::kernels
