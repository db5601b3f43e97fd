// Pooling of one group of channels. Part of a table_*.cpp.
namespace npustream::kernels {
namespace {

inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// Pixels of the window in one axis that lie inside the picture, and how many count with padding included.
struct Window {
  int64_t first, last, padded;  // kernel indices [first, last)
};

inline Window Clip1(int64_t start, int64_t kernel, int64_t dilation, int64_t size, int64_t pad_end) {
  Window w{0, kernel, 0};
  while (w.first < kernel && start + w.first * dilation < 0) ++w.first;
  while (w.last > w.first && start + (w.last - 1) * dilation >= size) --w.last;
  for (int64_t k = 0; k < kernel; ++k) w.padded += start + k * dilation < size + pad_end;
  return w;
}

// Largest of `count` (≥ 0) vectors that lie `stride` floats apart.
inline V MaxOf(const float* x, int64_t count, int64_t stride) {
  V most = Set(-3.40282347e38f);
  for (int64_t k = 0; k < count; ++k) most = Max(most, Load(x + k * stride));
  return most;
}

// A maximum over a window is the maximum over its rows' maxima: first along rows into `scratch` (in_h × out_w), then
// along columns.
void MaxPoolBlocked(const float* x, float* y, const PoolShape& s, float* scratch, size_t block) {
  const auto b = static_cast<int64_t>(block);
  for (int64_t ow = 0; ow < s.out_w; ++ow) {
    const int64_t w0 = ow * s.stride_w - s.pad_left;
    const Window columns = Clip1(w0, s.kernel_w, s.dilation_w, s.in_w, s.pad_right);
    for (int64_t h = 0; h < s.in_h; ++h) {
      const float* first = x + (h * s.in_w + w0 + columns.first * s.dilation_w) * b;
      for (int64_t lane = 0; lane < b; lane += static_cast<int64_t>(kWidth)) {
        Store(scratch + (h * s.out_w + ow) * b + lane, MaxOf(first + lane, columns.last - columns.first, s.dilation_w * b));
      }
    }
  }
  for (int64_t oh = 0; oh < s.out_h; ++oh) {
    const int64_t h0 = oh * s.stride_h - s.pad_top;
    const Window rows = Clip1(h0, s.kernel_h, s.dilation_h, s.in_h, s.pad_bottom);
    const float* first = scratch + (h0 + rows.first * s.dilation_h) * s.out_w * b;
    for (int64_t i = 0; i < s.out_w * b; i += static_cast<int64_t>(kWidth)) {
      Store(y + oh * s.out_w * b + i, MaxOf(first + i, rows.last - rows.first, s.dilation_h * s.out_w * b));
    }
  }
}

void PoolBlocked(const float* x, float* y, const PoolShape& s, float* scratch, size_t block) {
  if (s.is_max) return MaxPoolBlocked(x, y, s, scratch, block);
  for (int64_t oh = 0; oh < s.out_h; ++oh) {
    const int64_t h0 = oh * s.stride_h - s.pad_top;
    const Window rows = Clip1(h0, s.kernel_h, s.dilation_h, s.in_h, s.pad_bottom);
    for (int64_t ow = 0; ow < s.out_w; ++ow) {
      const int64_t w0 = ow * s.stride_w - s.pad_left;
      const Window columns = Clip1(w0, s.kernel_w, s.dilation_w, s.in_w, s.pad_right);
      const int64_t inside = (rows.last - rows.first) * (columns.last - columns.first);
      const int64_t count = s.count_include_pad ? rows.padded * columns.padded : inside;
      const float scale = count > 0 ? 1.0f / static_cast<float>(count) : 0;
      for (size_t lane = 0; lane < block; lane += kWidth) {
        V sum = Set(0);
        for (int64_t kh = rows.first; kh < rows.last; ++kh) {
          const float* row = x + (h0 + kh * s.dilation_h) * s.in_w * static_cast<int64_t>(block) + lane;
          for (int64_t kw = columns.first; kw < columns.last; ++kw) {
            sum = sum + Load(row + (w0 + kw * s.dilation_w) * static_cast<int64_t>(block));
          }
        }
        Store(y + (oh * s.out_w + ow) * static_cast<int64_t>(block) + lane, sum * Set(scale));
      }
    }
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

void FillPool(SimdTable& table) {
  table.pool_blocked = PoolBlocked;
  table.sum_pixels = SumPixels;
}

}  // namespace
}  // namespace npustream::kernels
