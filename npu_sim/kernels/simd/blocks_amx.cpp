// Blocks of sums on AMX's tiles.
#include <immintrin.h>

#include <cstdint>
#include <type_traits>

#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {
namespace {

constexpr int kRow = 64;                                      // bytes of a tile's row
constexpr int64_t kTile = 16 * kRow;                          // bytes of a tile
constexpr int64_t kGroupSums = kMostBlockPixels * kRow / 4;   // from one group's sums to the next one's

// Every tile has 16 rows of 64 bytes. Layout: Intel 64 and IA-32 Architectures SDM, volume 1, 18.3.1, palette 1.
struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {kRow, kRow, kRow, kRow, kRow, kRow, kRow, kRow};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Config) == 64);

void Begin() {
  static const Config config;
  _tile_loadconfig(&config);
}
void End() { _tile_release(); }

// Tile numbers are part of the instructions.
#define NPUSTREAM_MULTIPLY(sums, pixels, weights) \
  if constexpr (kBytes) {                         \
    _tile_dpbusd(sums, pixels, weights);          \
  } else {                                        \
    _tile_dpbf16ps(sums, pixels, weights);        \
  }

// Tiles 0 … 3 are sums (pixels · 2 + group), 4 and 5 pixels, 6 and 7 weights.
template <typename Sum, bool kTwoPixelTiles, bool kTwoGroups>
void RunBlock(const Block<Sum>& b) {
  constexpr bool kBytes = std::is_same_v<Sum, int32_t>;
  // A stride of 0 repeats the bias for every pixel.
  _tile_loadd(0, b.bias, 0);
  if constexpr (kTwoGroups) _tile_loadd(1, b.bias + 16, 0);
  if constexpr (kTwoPixelTiles) _tile_loadd(2, b.bias, 0);
  if constexpr (kTwoPixelTiles && kTwoGroups) _tile_loadd(3, b.bias + 16, 0);
  const std::byte* w = b.w;
  for (int64_t step = 0; step < b.steps; ++step) {
    const std::byte* const x = b.x + b.offsets[step];
    _tile_loadd(6, w, kRow);
    _tile_loadd(4, x, b.x_pitch);
    NPUSTREAM_MULTIPLY(0, 4, 6);
    if constexpr (kTwoGroups) {
      _tile_loadd(7, w + kTile, kRow);
      NPUSTREAM_MULTIPLY(1, 4, 7);
    }
    if constexpr (kTwoPixelTiles) {
      _tile_loadd(5, x + 16 * b.x_pitch, b.x_pitch);
      NPUSTREAM_MULTIPLY(2, 5, 6);
    }
    if constexpr (kTwoPixelTiles && kTwoGroups) {
      NPUSTREAM_MULTIPLY(3, 5, 7);
    }
    w += (kTwoGroups ? 2 : 1) * kTile;
  }
  _tile_stored(0, b.sums, kRow);
  if constexpr (kTwoGroups) _tile_stored(1, b.sums + kGroupSums, kRow);
  if constexpr (kTwoPixelTiles) _tile_stored(2, b.sums + 16 * 16, kRow);
  if constexpr (kTwoPixelTiles && kTwoGroups) _tile_stored(3, b.sums + kGroupSums + 16 * 16, kRow);
}

#undef NPUSTREAM_MULTIPLY

template <typename Sum>
void RunAnyBlock(const Block<Sum>& b) {
  const bool two_tiles = b.pixels > 16;
  if (b.groups == 2) return two_tiles ? RunBlock<Sum, true, true>(b) : RunBlock<Sum, false, true>(b);
  two_tiles ? RunBlock<Sum, true, false>(b) : RunBlock<Sum, false, false>(b);
}

}  // namespace

void FillBlocksAmx(SimdTable& table) {
  table.byte_block = RunAnyBlock<int32_t>;
  table.bf16_block = RunAnyBlock<float>;
  table.begin_blocks = Begin;
  table.end_blocks = End;
}

}  // namespace npustream::kernels
