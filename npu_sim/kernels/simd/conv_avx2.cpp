#include <cstddef>
#include <cstdint>

#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/simd/vec_avx2.h"

// The parts need the vector type above.
#include "npu_sim/kernels/simd/tile.inl"

// Uses the tiles.
#include "npu_sim/kernels/simd/plane_conv.inl"
#include "npu_sim/kernels/simd/winograd.inl"
#include "npu_sim/kernels/simd/conv.inl"

namespace npustream::kernels {

void FillConvAvx2(SimdTable& table) { FillConv(table); }

}  // namespace npustream::kernels
