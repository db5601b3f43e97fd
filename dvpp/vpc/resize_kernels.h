#pragma once

#include <cstddef>
#include <cstdint>

#include "dvpp/cpu/simd.h"

namespace npustream::dvpp {

// Samples per row buffer that kernels may read beyond the last one they use.
inline constexpr int kRowSlack = 64;

// The two steps of a bilinear resize, rows first. Values between the steps have 7 bits of fraction: 0 … 255 · 128. All
// implementations give the same bits.
struct ResizeKernels {
  // row[i] = 128·above[i] + round((below[i] − above[i])·128·weight / 2^15) for i < count.
  void (*blend_rows)(const uint8_t* above, const uint8_t* below, int weight, int count, int16_t* row);
  // For position i < count and channel c: out = round((row[index[i]]·w0 + row[index[i] + 1]·w1) / 2^21), where
  // weights[i] is w0 in the low and w1 in the high half, w0 + w1 = 2^14. For n channels it is sample_row[n − 1].
  void (*sample_row[4])(const int16_t* row, const int32_t* index, const uint32_t* weights, int count, uint8_t* out);
};

// `simd` must be one that CanRun.
const ResizeKernels& ResizeKernelsFor(Simd simd);

// The scalar twin, also used for the ends of rows.
void BlendRowsScalar(const uint8_t* above, const uint8_t* below, int weight, int count, int16_t* row);
template <int kChannels>
void SampleRowScalar(const int16_t* row, const int32_t* index, const uint32_t* weights, int count, uint8_t* out);

extern const ResizeKernels kResizeAvx2;
extern const ResizeKernels kResizeAvx512;

}  // namespace npustream::dvpp
