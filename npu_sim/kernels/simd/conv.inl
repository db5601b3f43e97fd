// Convolutions of floats: tiles, and depthwise rows. Part of a conv_*.cpp, after tile.inl.
namespace npustream::kernels {
namespace {

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
  SetAllTiles<FloatMath>(table.conv);
  table.depthwise_row = RunDepthwiseRow;
  SetPlaneRows(table);
  SetWinograd(table);
}

}  // namespace
}  // namespace npustream::kernels
