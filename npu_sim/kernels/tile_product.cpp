#include "npu_sim/kernels/tile_product.h"

#include <algorithm>

#include "npu_sim/om/native_plan.h"

namespace npustream::kernels {
namespace {

// Steps of the depth after which the next rows follow, so that the weights in between stay in the first-level cache.
constexpr int64_t kDepthAtOnce = 256;

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
    const int64_t begin = first * block_, width = (std::min(groups_, first + tile_groups_) - first) * block_;
    const int64_t present = std::min(width, columns_ - begin);
    const float* from = plain + begin * column_stride;
    if (present < width) std::fill_n(packed, width * depth_, 0.0f);
    if (row_stride == 1) {
      // Weights may be packed for another CPU than this one.
      SimdFor(RunningIsa()).transpose(from, static_cast<size_t>(column_stride), static_cast<size_t>(present),
                                      static_cast<size_t>(depth_), packed, static_cast<size_t>(width));
    } else {
      for (int64_t k = 0; k < depth_; ++k) {
        for (int64_t n = 0; n < present; ++n) packed[k * width + n] = from[k * row_stride + n * column_stride];
      }
    }
    packed += width * depth_;
  }
}

void TileProduct::Run(const float* x, int64_t x_stride, int64_t rows, const float* packed, float* scratch, float* y,
                      int64_t y_stride, const float* bias) const {
  if (!has_tiles_) return RunPlain(x, x_stride, rows, packed, y, y_stride, bias);
  const int64_t bands = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  for (int64_t band = 0, row = 0; band < bands; ++band) {
    const int64_t count = (rows - row + bands - band - 1) / (bands - band);
    RunBand(x + row * x_stride, x_stride, count, packed, scratch, y + row * y_stride, y_stride, bias);
    row += count;
  }
}

// Groups of columns that are there as a whole are written where they belong, the others by way of scratch.
void TileProduct::RunBand(const float* x, int64_t x_stride, int64_t rows, const float* packed, float* scratch, float* y,
                          int64_t y_stride, const float* bias) const {
  float* own_bias = scratch + tile_groups_ * block_ * kRowsAtOnce;
  std::fill_n(own_bias, tile_groups_ * block_, 0.0f);
  for (int64_t first = 0; first < groups_; first += tile_groups_) {
    const int64_t groups = std::min(tile_groups_, groups_ - first), width = groups * block_,
                  present = std::min(width, columns_ - first * block_);
    const bool whole = present == width;
    if (!whole && bias) std::copy_n(bias + first * block_, present, own_bias);
    ConvTile tile = {};
    tile.bias = whole && bias ? bias + first * block_ : own_bias;
    tile.y = whole ? y + first * block_ : scratch;
    tile.y_group_stride = block_;
    tile.y_pixel_stride = whole ? y_stride : width;
    tile.in_groups = tile.kh = tile.kw = 1;
    tile.x_pixel_stride = x_stride;
    for (int64_t k = 0; k < depth_; k += kDepthAtOnce) {
      tile.x = x + k;
      tile.w = packed + k * width;
      tile.lanes = tile.last_lanes = std::min(kDepthAtOnce, depth_ - k);
      tile.accumulate = k > 0;
      Tiles(tile, groups, rows);
    }
    packed += width * depth_;
    for (int64_t r = 0; !whole && r < rows; ++r)
      std::copy_n(scratch + r * width, present, y + r * y_stride + first * block_);
  }
}

void TileProduct::Tiles(ConvTile tile, int64_t groups, int64_t rows) const {
  const auto& functions = simd_.conv[static_cast<int>(TileSource::kBlocked)][groups - 1];
  int64_t most = kMaxTilePixels;
  while (!functions[most - 1]) --most;
  for (int64_t parts = (rows + most - 1) / most; parts > 0; --parts) {
    const int64_t width = (rows + parts - 1) / parts;
    functions[width - 1](tile);
    tile.x += width * tile.x_pixel_stride;
    tile.y += width * tile.y_pixel_stride;
    rows -= width;
  }
}

void TileProduct::RunPlain(const float* x, int64_t x_stride, int64_t rows, const float* right, float* y,
                           int64_t y_stride, const float* bias) const {
  for (int64_t r = 0; r < rows; ++r) {
    float* const to = y + r * y_stride;
    bias ? std::copy_n(bias, columns_, to) : std::fill_n(to, columns_, 0.0f);
    for (int64_t k = 0; k < depth_; ++k) {
      const float factor = x[r * x_stride + k];
      for (int64_t n = 0; n < columns_; ++n) to[n] += factor * right[k * columns_ + n];
    }
  }
}

}  // namespace npustream::kernels
