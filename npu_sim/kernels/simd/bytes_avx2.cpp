#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/simd/vec_avx2.h"

// The parts need the vector type.
#include "npu_sim/kernels/simd/functions.inl"
#include "npu_sim/kernels/simd/quick.inl"
#include "npu_sim/kernels/simd/tile.inl"

// Uses both.
#include "npu_sim/kernels/simd/bytes.inl"

namespace npustream::kernels {

void FillBytesAvx2(SimdTable& table) { FillBytes(table); }

}  // namespace npustream::kernels
