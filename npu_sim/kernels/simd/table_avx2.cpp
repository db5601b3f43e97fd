#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/simd/vec_avx2.h"

// The parts need the vector type, and some of them the functions.
#include "npu_sim/kernels/simd/functions.inl"

#include "npu_sim/kernels/simd/aipp.inl"
#include "npu_sim/kernels/simd/binary.inl"
#include "npu_sim/kernels/simd/layout.inl"
#include "npu_sim/kernels/simd/pool.inl"
#include "npu_sim/kernels/simd/power.inl"
#include "npu_sim/kernels/simd/rows.inl"
#include "npu_sim/kernels/simd/unary.inl"

// Collects what the parts define.
#include "npu_sim/kernels/simd/table.inl"

namespace npustream::kernels {

const SimdTable& Avx2Simd() {
  static const SimdTable table = [] {
    SimdTable made = MakeTable();
    FillConvAvx2(made);
    FillBytesAvx2(made);
    return made;
  }();
  return table;
}

}  // namespace npustream::kernels
