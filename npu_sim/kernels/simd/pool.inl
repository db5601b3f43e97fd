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

void PoolBlocked(const float* x, float* y, const PoolShape& s, size_t block) {
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
        V sum = Set(s.is_max ? -3.40282347e38f : 0);
        for (int64_t kh = rows.first; kh < rows.last; ++kh) {
          const float* row = x + (h0 + kh * s.dilation_h) * s.in_w * static_cast<int64_t>(block) + lane;
          for (int64_t kw = columns.first; kw < columns.last; ++kw) {
            const V value = Load(row + (w0 + kw * s.dilation_w) * static_cast<int64_t>(block));
            sum = s.is_max ? Max(sum, value) : sum + value;
          }
        }
        Store(y + (oh * s.out_w + ow) * static_cast<int64_t>(block) + lane, s.is_max ? sum : sum * Set(scale));
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
