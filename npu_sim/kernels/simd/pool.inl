// Pooling of one group of channels. Part of a table_*.cpp.
namespace npustream::kernels {
namespace {

inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// Pixels of the window in one axis that lie inside the picture, and how many count with padding included.
struct Window {
  int64_t first, last, padded;  // kernel indices [first, last)
};

inline Window Clip1(int64_t start, int64_t kernel, int64_t dilation, int64_t size, int64_t pad_end) {
  if (start >= 0 && start + (kernel - 1) * dilation < size) return {0, kernel, kernel};
  // Kernel indices that lie before place `end`.
  const auto before = [&](int64_t end) {
    return end <= start ? 0 : Least(kernel, (end - start + dilation - 1) / dilation);
  };
  const int64_t first = before(0), last = before(size);
  return {first, last > first ? last : first, before(size + pad_end)};
}

inline V Join(V a, V b, bool is_max) { return is_max ? Max(a, b) : a + b; }

// `count` vectors joined, from x on `stride` floats apart.
inline V JoinAll(const float* x, int64_t count, int64_t stride, bool is_max) {
  V all = Set(is_max ? -3.40282347e38f : 0);
  for (int64_t k = 0; k < count; ++k) all = Join(all, Load(x + k * stride), is_max);
  return all;
}

// One row of pixels of one channel: each tap passes over the whole row, which the compiler turns into vectors.
void JoinPlainRow(const float* x, float* to, const PoolShape& s) {
  for (int64_t ow = 0; ow < s.out_w; ++ow) to[ow] = s.is_max ? -3.40282347e38f : 0;
  for (int64_t k = 0; k < s.kernel_w; ++k) {
    const int64_t shift = k * s.dilation_w - s.pad_left;
    const int64_t first = shift < 0 ? (-shift + s.stride_w - 1) / s.stride_w : 0;
    const int64_t last = shift < s.in_w ? Least(s.out_w, (s.in_w - 1 - shift) / s.stride_w + 1) : 0;
    const float* from = x + shift;
    if (s.stride_w == 1) {
      if (s.is_max) {
        for (int64_t ow = first; ow < last; ++ow) to[ow] = from[ow] > to[ow] ? from[ow] : to[ow];
      } else {
        for (int64_t ow = first; ow < last; ++ow) to[ow] += from[ow];
      }
    } else {
      for (int64_t ow = first; ow < last; ++ow) {
        const float value = from[ow * s.stride_w];
        to[ow] = !s.is_max ? to[ow] + value : value > to[ow] ? value : to[ow];
      }
    }
  }
}

void JoinBlockedRow(const float* x, float* to, const PoolShape& s, int64_t b) {
  for (int64_t ow = 0; ow < s.out_w; ++ow) {
    const int64_t w0 = ow * s.stride_w - s.pad_left;
    const Window columns = Clip1(w0, s.kernel_w, s.dilation_w, s.in_w, s.pad_right);
    const float* first = x + (w0 + columns.first * s.dilation_w) * b;
    for (int64_t lane = 0; lane < b; lane += static_cast<int64_t>(kWidth)) {
      Store(to + ow * b + lane, JoinAll(first + lane, columns.last - columns.first, s.dilation_w * b, s.is_max));
    }
  }
}

// Turns sums into means; what they are multiplied with differs only at the borders.
void ScaleRow(float* y, const PoolShape& s, const Window& rows, int64_t b) {
  const auto scale = [&](const Window& columns) {
    const int64_t inside = (rows.last - rows.first) * (columns.last - columns.first);
    const int64_t count = s.count_include_pad ? rows.padded * columns.padded : inside;
    return count > 0 ? 1.0f / static_cast<float>(count) : 0;
  };
  const auto window = [&](int64_t ow) {
    return Clip1(ow * s.stride_w - s.pad_left, s.kernel_w, s.dilation_w, s.in_w, s.pad_right);
  };
  const auto is_inside = [&](int64_t ow) {
    const int64_t start = ow * s.stride_w - s.pad_left;
    return start >= 0 && start + (s.kernel_w - 1) * s.dilation_w < s.in_w;
  };
  int64_t first = 0, last = s.out_w;
  while (first < last && !is_inside(first)) ++first;
  while (last > first && !is_inside(last - 1)) --last;
  for (int64_t ow = 0; ow < s.out_w; ++ow) {
    if (ow == first) ow = last;
    if (ow >= s.out_w) break;
    const float factor = scale(window(ow));
    for (int64_t lane = 0; lane < b; ++lane) y[ow * b + lane] *= factor;
  }
  const float factor = scale({0, s.kernel_w, s.kernel_w});
  for (int64_t i = first * b; i < last * b; ++i) y[i] *= factor;
}

// Maxima and sums over a window are those over its rows' maxima and sums: first along rows into `scratch` (in_h ×
// out_w), then along columns. `block` 1: a plain plane.
void Pool(const float* x, float* y, const PoolShape& s, float* scratch, size_t block) {
  const auto b = static_cast<int64_t>(block), width = static_cast<int64_t>(kWidth), row = s.out_w * b;
  for (int64_t h = 0; h < s.in_h; ++h) {
    if (b == 1) {
      JoinPlainRow(x + h * s.in_w, scratch + h * row, s);
    } else {
      JoinBlockedRow(x + h * s.in_w * b, scratch + h * row, s, b);
    }
  }
  for (int64_t oh = 0; oh < s.out_h; ++oh) {
    const int64_t h0 = oh * s.stride_h - s.pad_top;
    const Window rows = Clip1(h0, s.kernel_h, s.dilation_h, s.in_h, s.pad_bottom);
    const float* first = scratch + (h0 + rows.first * s.dilation_h) * row;
    const int64_t count = rows.last - rows.first, stride = s.dilation_h * row;
    float* to = y + oh * row;
    int64_t i = 0;
    for (; i + width <= row; i += width) Store(to + i, JoinAll(first + i, count, stride, s.is_max));
    for (; i < row; ++i) {
      float all = s.is_max ? -3.40282347e38f : 0;
      for (int64_t k = 0; k < count; ++k) {
        const float value = first[i + k * stride];
        all = !s.is_max ? all + value : value > all ? value : all;
      }
      to[i] = all;
    }
    if (!s.is_max) ScaleRow(to, s, rows, b);
  }
}

void SumPixels(const float* x, float* sums, size_t pixels, size_t block) {
  for (size_t lane = 0; lane < block; lane += kWidth) {
    V sum[4] = {Set(0), Set(0), Set(0), Set(0)};
    size_t p = 0;
    for (; p + 4 <= pixels; p += 4) {
      for (size_t k = 0; k < 4; ++k) sum[k] = sum[k] + Load(x + (p + k) * block + lane);
    }
    for (; p < pixels; ++p) sum[0] = sum[0] + Load(x + p * block + lane);
    Store(sums + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
}

// Not for NaN, which may become infinite.
template <int64_t kLanes>
void PixelsToBf16(const float* x, int64_t x_step, uint16_t* y, int64_t y_step, int64_t pixels) {
  for (; pixels > 0; --pixels, x += x_step, y += y_step) {
    for (int64_t i = 0; i < kLanes; ++i) {
      uint32_t bits;
      memcpy(&bits, x + i, sizeof(bits));
      y[i] = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
  }
}

void ToBf16(const float* x, int64_t x_step, uint16_t* y, int64_t y_step, int64_t pixels, int64_t lanes) {
  if (lanes == 16) return PixelsToBf16<16>(x, x_step, y, y_step, pixels);
  for (int64_t i = 0; i < lanes; ++i) PixelsToBf16<1>(x + i, x_step, y + i, y_step, pixels);
}

void FillPool(SimdTable& table) {
  table.to_bf16 = ToBf16;
  table.pool = Pool;
  table.sum_pixels = SumPixels;
}

}  // namespace
}  // namespace npustream::kernels
