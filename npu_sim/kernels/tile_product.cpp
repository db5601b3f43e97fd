#include "npu_sim/kernels/tile_product.h"

#include <algorithm>

#include "npu_sim/om/native_plan.h"

namespace npustream::kernels {
namespace {

// Rows that are computed into scratch before they are copied to the result.
constexpr int64_t kRowsAtOnce = 56;

}  // namespace

TileProduct::TileProduct(Isa isa, int64_t depth, int64_t columns, int64_t tile_groups)
    : simd_(SimdFor(isa)),
      has_tiles_(isa != Isa::kBaseline),
      depth_(depth),
      columns_(columns),
      block_(has_tiles_ ? om::BlockOf(BlockedLayout(isa)) : columns),
      groups_(has_tiles_ ? (columns + block_ - 1) / block_ : 1),
      tile_groups_(tile_groups) {}

size_t TileProduct::ScratchBytes() const {
  return has_tiles_ ? static_cast<size_t>(tile_groups_ * block_ * (kRowsAtOnce + 1)) * sizeof(float) : 0;
}

// [tile][row][group of the tile][lane]
void TileProduct::Pack(const float* plain, int64_t row_stride, int64_t column_stride, float* packed) const {
  for (int64_t first = 0; first < groups_; first += tile_groups_) {
    const int64_t begin = first * block_, end = std::min(groups_, first + tile_groups_) * block_;
    const int64_t present = std::min(end, columns_);
    for (int64_t k = 0; k < depth_; ++k) {
      const float* row = plain + k * row_stride;
      for (int64_t n = begin; n < present; ++n) *packed++ = row[n * column_stride];
      for (int64_t n = present; n < end; ++n) *packed++ = 0;
    }
  }
}

void TileProduct::Run(const float* x, int64_t x_stride, int64_t rows, const float* packed, float* scratch, float* y,
                      int64_t y_stride) const {
  if (!has_tiles_) return RunPlain(x, x_stride, rows, packed, y, y_stride);
  float* zero_bias = scratch + tile_groups_ * block_ * kRowsAtOnce;
  std::fill_n(zero_bias, tile_groups_ * block_, 0.0f);
  for (int64_t row = 0; row < rows; row += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, rows - row);
    const float* w = packed;
    for (int64_t first = 0; first < groups_; first += tile_groups_) {
      const int64_t groups = std::min(tile_groups_, groups_ - first);
      ConvTile tile = {};
      tile.w = w, tile.bias = zero_bias;
      tile.in_groups = 1, tile.lanes = tile.last_lanes = depth_;
      tile.kh = tile.kw = 1;
      tile.x_pixel_stride = x_stride;
      tile.y_group_stride = kRowsAtOnce * block_;
      Tiles(tile, x + row * x_stride, x_stride, scratch, groups, count);
      CopyOut(scratch, y + row * y_stride + first * block_, y_stride,
              std::min(groups * block_, columns_ - first * block_), count);
      w += groups * block_ * depth_;
    }
  }
}

void TileProduct::Tiles(ConvTile tile, const float* x, int64_t x_stride, float* scratch, int64_t groups,
                        int64_t rows) const {
  const auto& functions = simd_.conv[static_cast<int>(TileSource::kBlocked)][groups - 1];
  int64_t most = kMaxTilePixels;
  while (!functions[most - 1]) --most;
  int64_t done = 0;
  for (int64_t parts = (rows + most - 1) / most; parts > 0; --parts) {
    const int64_t width = (rows - done + parts - 1) / parts;
    tile.x = x + done * x_stride;
    tile.y = scratch + done * block_;
    functions[width - 1](tile);
    done += width;
  }
}

// [group][row][lane] to rows of the result.
void TileProduct::CopyOut(const float* scratch, float* y, int64_t y_stride, int64_t columns, int64_t rows) const {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t n = 0; n < columns; n += block_) {
      std::copy_n(scratch + (n / block_ * kRowsAtOnce + r) * block_, std::min(block_, columns - n),
                  y + r * y_stride + n);
    }
  }
}

void TileProduct::RunPlain(const float* x, int64_t x_stride, int64_t rows, const float* right, float* y,
                           int64_t y_stride) const {
  for (int64_t r = 0; r < rows; ++r) {
    float* const to = y + r * y_stride;
    std::fill_n(to, columns_, 0.0f);
    for (int64_t k = 0; k < depth_; ++k) {
      const float factor = x[r * x_stride + k];
      for (int64_t n = 0; n < columns_; ++n) to[n] += factor * right[k * columns_ + n];
    }
  }
}

}  // namespace npustream::kernels
