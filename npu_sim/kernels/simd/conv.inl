// Convolution tiles and depthwise rows in registers. Part of a conv_*.cpp.
namespace npustream::kernels {
namespace {

constexpr int64_t kBlock = static_cast<int64_t>(kWidth);

// Pixels a tile of `groups` result groups can have: accumulators, one weight per group and one pixel must fit the
// register file (32 registers, or 16 with AVX2).
constexpr int MostPixels(int groups) {
  const int registers = kWidth == 16 ? 32 : 16;
  const int fit = (registers - groups - 1) / groups;
  return fit < kMaxTilePixels ? fit : kMaxTilePixels;
}

constexpr bool IsPlain(TileSource source) { return source >= TileSource::kPlain1; }

// Floats between neighbouring pixels of a tile; 0 when only the tile knows. Constants keep addresses out of registers.
constexpr int64_t PixelStride(TileSource source) {
  switch (source) {
    case TileSource::kBlocked1: return kBlock;
    case TileSource::kBlocked2: return 2 * kBlock;
    case TileSource::kPlain1: return 1;
    case TileSource::kPlain2: return 2;
    default: return 0;
  }
}

template <TileSource kSource, int kGroups, int kPixels>
void RunTile(const ConvTile& t) {
  V sum[kGroups][kPixels];
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) {
    const float* from = t.accumulate ? t.y : t.residual;
    if (t.accumulate) {
#pragma GCC unroll 14
      for (int p = 0; p < kPixels; ++p) sum[g][p] = Load(from + g * t.y_group_stride + p * kBlock);
      continue;
    }
    const V bias = Load(t.bias + g * kBlock);
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) sum[g][p] = from ? bias + Load(from + g * t.y_group_stride + p * kBlock) : bias;
  }
  const int64_t pixel_stride = PixelStride(kSource) > 0 ? PixelStride(kSource) : t.x_pixel_stride;
  const float* w = t.w;
  // One source channel's pixel under the window: its weights, and every pixel of the tile.
  const auto accumulate = [&](const float* x) __attribute__((always_inline)) {
    V weight[kGroups];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) weight[g] = Load(w + g * kBlock);
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
      const V value = Set(x[p * pixel_stride]);
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) sum[g][p] = MulAdd(weight[g], value, sum[g][p]);
    }
    w += kGroups * kBlock;
  };
  if constexpr (IsPlain(kSource)) {
    // Each tap reads another row: too many streams for the hardware to foresee the next tile's.
    for (int64_t tap = 0; tap < t.taps; ++tap) {
      const float* x = t.x + t.offsets[tap];
      __builtin_prefetch(x + kPixels * pixel_stride);
      accumulate(x);
    }
  }
  for (int64_t group = 0; !IsPlain(kSource) && group < t.in_groups; ++group) {
    const int64_t lanes = group + 1 < t.in_groups ? t.lanes : t.last_lanes;
    for (int64_t kh = 0; kh < t.kh; ++kh) {
      for (int64_t kw = 0; kw < t.kw; ++kw) {
        const float* x = t.x + group * t.x_group_stride + kh * t.x_kh_stride + kw * t.x_kw_stride;
        for (int64_t lane = 0; lane < lanes; ++lane) accumulate(x + lane);
      }
    }
  }
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) {
    float* y = t.y + g * t.y_group_stride;
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) Store(y + p * kBlock, sum[g][p]);
  }
}

template <TileSource kSource, int kGroups, int kPixels = MostPixels(kGroups)>
void SetTiles(SimdTable& table) {
  if constexpr (kPixels > 0) {
    table.conv[static_cast<int>(kSource)][kGroups - 1][kPixels - 1] = RunTile<kSource, kGroups, kPixels>;
    SetTiles<kSource, kGroups, kPixels - 1>(table);
  } else if constexpr (kGroups > 1) {
    SetTiles<kSource, kGroups - 1>(table);
  }
}

// One pixel whose window may leave the row at the left or right.
void DepthwisePixel(const DepthwiseRow& r, int64_t pixel) {
  V sum = Load(r.bias);
  const int64_t start = r.x_column + pixel * r.stride_w;
  for (int64_t kh = r.kh_first; kh < r.kh_last; ++kh) {
    for (int64_t kw = 0; kw < r.kw; ++kw) {
      const int64_t column = start + kw * r.dilation_w;
      if (column < 0 || column >= r.in_w) continue;
      sum = MulAdd(Load(r.w + (kh * r.kw + kw) * kBlock),
                   Load(r.x + kh * r.x_kh_stride + (column - r.x_column) * kBlock), sum);
    }
  }
  if (r.residual) sum = sum + Load(r.residual + pixel * kBlock);
  Store(r.y + pixel * kBlock, sum);
}

// kPixels neighbouring pixels, all of whose windows lie inside the row. kKernel and kStride 0: read from `r`.
template <int kPixels, int kKernel, int kStride>
void DepthwiseTile(const DepthwiseRow& r, int64_t pixel) {
  V sum[kPixels];
  const V bias = Load(r.bias);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = bias;
  const int64_t stride = kStride > 0 ? kStride : r.stride_w;
  const float* x0 = r.x + pixel * stride * kBlock;
  for (int64_t kh = r.kh_first; kh < r.kh_last; ++kh) {
    const float* x = x0 + kh * r.x_kh_stride;
    if constexpr (kKernel > 0) {
      // Each source pixel is loaded once and serves every tap it meets.
      V weight[kKernel];
#pragma GCC unroll 8
      for (int k = 0; k < kKernel; ++k) weight[k] = Load(r.w + (kh * kKernel + k) * kBlock);
#pragma GCC unroll 32
      for (int j = 0; j < (kPixels - 1) * kStride + kKernel; ++j) {
        const V value = Load(x + j * kBlock);
#pragma GCC unroll 8
        for (int k = 0; k < kKernel; ++k) {
          const int shifted = j - k;
          if (shifted >= 0 && shifted % kStride == 0 && shifted / kStride < kPixels) {
            sum[shifted / kStride] = MulAdd(weight[k], value, sum[shifted / kStride]);
          }
        }
      }
    } else {
      for (int64_t kw = 0; kw < r.kw; ++kw) {
        const V weight = Load(r.w + (kh * r.kw + kw) * kBlock);
#pragma GCC unroll 8
        for (int p = 0; p < kPixels; ++p)
          sum[p] = MulAdd(weight, Load(x + (kw * r.dilation_w + p * stride) * kBlock), sum[p]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    if (r.residual) sum[p] = sum[p] + Load(r.residual + (pixel + p) * kBlock);
    Store(r.y + (pixel + p) * kBlock, sum[p]);
  }
}

template <int kKernel, int kStride>
void DepthwiseInside(const DepthwiseRow& r, int64_t first, int64_t last) {
  int64_t pixel = first;
  for (; pixel + 8 <= last; pixel += 8) DepthwiseTile<8, kKernel, kStride>(r, pixel);
  for (; pixel + 4 <= last; pixel += 4) DepthwiseTile<4, kKernel, kStride>(r, pixel);
  for (; pixel < last; ++pixel) DepthwiseTile<1, kKernel, kStride>(r, pixel);
}

void RunDepthwiseRow(const DepthwiseRow& r) {
  // Pixels [first, last) have their windows inside the row.
  int64_t first = 0, last = r.pixels;
  while (first < last && r.x_column + first * r.stride_w < 0) ++first;
  while (last > first && r.x_column + (last - 1) * r.stride_w + (r.kw - 1) * r.dilation_w >= r.in_w) --last;
  for (int64_t p = 0; p < first; ++p) DepthwisePixel(r, p);
  if (r.kw == 3 && r.dilation_w == 1 && r.stride_w == 1) {
    DepthwiseInside<3, 1>(r, first, last);
  } else if (r.kw == 3 && r.dilation_w == 1 && r.stride_w == 2) {
    DepthwiseInside<3, 2>(r, first, last);
  } else if (r.kw == 5 && r.dilation_w == 1 && r.stride_w == 1) {
    DepthwiseInside<5, 1>(r, first, last);
  } else {
    DepthwiseInside<0, 0>(r, first, last);
  }
  for (int64_t p = last; p < r.pixels; ++p) DepthwisePixel(r, p);
}

void FillConv(SimdTable& table) {
  SetTiles<TileSource::kBlocked1, 4>(table);
  SetTiles<TileSource::kBlocked2, 4>(table);
  SetTiles<TileSource::kBlocked, 4>(table);
  SetTiles<TileSource::kPlain1, 2>(table);
  SetTiles<TileSource::kPlain2, 2>(table);
  SetTiles<TileSource::kPlain, 2>(table);
  table.depthwise_row = RunDepthwiseRow;
}

}  // namespace
}  // namespace npustream::kernels
