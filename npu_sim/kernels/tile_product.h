#pragma once

#include <cstddef>
#include <cstdint>

#include "npu_sim/kernels/isa.h"
#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {

// Products of float matrices on the convolution tiles of simd.h: a row of the left side is a pixel, a column of the right
// side a channel. The right side is packed first. Plain loops on CPUs that have no tiles.
class TileProduct {
 public:
  // Few rows at a time want tiles of more groups of columns, many rows those of more rows.
  TileProduct(Isa isa, int64_t depth, int64_t columns, int64_t tile_groups = 2);

  size_t PackedBytes() const { return static_cast<size_t>(groups_ * block_ * depth_) * sizeof(float); }
  size_t ScratchBytes() const;
  // Element (k, n) of the right side lies at k · row_stride + n · column_stride.
  void Pack(const float* plain, int64_t row_stride, int64_t column_stride, float* packed) const;
  // y = x · right side, plus `bias` (one value per column) unless it is null. Rows of x and y are contiguous and
  // `x_stride` and `y_stride` floats apart. The sums of a row depend on no other row.
  void Run(const float* x, int64_t x_stride, int64_t rows, const float* packed, float* scratch, float* y,
           int64_t y_stride, const float* bias = nullptr) const;

  // Rows that are best given at a time by whoever has more to do with each result.
  static constexpr int64_t kRowsAtOnce = 112;

 private:
  void RunBand(const float* x, int64_t x_stride, int64_t rows, const float* packed, float* scratch, float* y,
               int64_t y_stride, const float* bias) const;
  void Tiles(ConvTile tile, int64_t groups, int64_t rows) const;
  void RunPlain(const float* x, int64_t x_stride, int64_t rows, const float* right, float* y, int64_t y_stride,
                const float* bias) const;

  const SimdTable& simd_;
  bool has_tiles_;
  int64_t depth_, columns_;
  int64_t block_, groups_;  // of result columns
  int64_t tile_groups_;     // the last tile takes those that are left
};

}  // namespace npustream::kernels
