#pragma once

#include <cstddef>
#include <cstdint>

#include "dvpp/cpu/simd.h"
#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

// The chroma of a planar 8-bit YUV picture. Width and height are luma's; shifts are log2 of the subsampling (0–2).
struct PlanarChroma {
  const uint8_t* u = nullptr;  // null: grey
  const uint8_t* v = nullptr;
  ptrdiff_t u_stride = 0;
  ptrdiff_t v_stride = 0;
  int shift_x = 1;
  int shift_y = 1;
  int width = 0;
  int height = 0;
};

// Writes the ⌈w/2⌉ × ⌈h/2⌉ pairs (U, V) of a 4:2:0 picture: samples at 4:2:0 as they are, finer ones averaged over the
// 2 × 2 pixels, coarser ones repeated, grey as 128. For NV21 swap u and v.
void InterleaveChroma(const PlanarChroma& from, const PlaneView& pairs, Simd simd = BestSimd());

}  // namespace npustream::dvpp
