#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {

// Products of float matrices whose elements are rounded to bfloat16, on AMX's tiles; sums are float32. The right side is
// packed first. The interface is TileProduct's.
class AmxProduct {
 public:
  // `simd` must have tiles.
  AmxProduct(const SimdTable& simd, int64_t depth, int64_t columns);

  size_t PackedBytes() const;
  size_t ScratchBytes(int64_t rows) const;
  // Element (k, n) of the right side lies at k · row_stride + n · column_stride.
  void Pack(const float* plain, int64_t row_stride, int64_t column_stride, std::byte* packed) const;
  // y = x · right side. Rows of x and y are contiguous and `x_stride` and `y_stride` floats apart.
  void Run(const float* x, int64_t x_stride, int64_t rows, const std::byte* packed, std::byte* scratch, float* y,
           int64_t y_stride) const;

 private:
  int64_t Pitch() const { return static_cast<int64_t>(offsets_.size()) * 64; }  // bytes of a gathered row
  int64_t BandRows(int64_t rows) const;
  void Gather(const float* x, int64_t x_stride, int64_t rows, std::byte* to) const;

  const SimdTable& simd_;
  int64_t depth_, columns_, groups_;  // groups of 16 columns
  std::vector<int32_t> offsets_;      // of the steps, each 32 elements deep
};

}  // namespace npustream::kernels
