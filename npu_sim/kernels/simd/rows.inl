// Functions of one row as a whole. Part of a table_*.cpp, after functions.inl.
namespace npustream::kernels {
namespace {

// Lanes are added in pairs, always the same ones: a row's sum does not depend on where it lies.
inline float SumLanes(V x) {
  float lanes[kWidth];
  Store(lanes, x);
  for (size_t half = kWidth / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

inline float MaxLane(V x) {
  float lanes[kWidth];
  Store(lanes, x);
  float top = lanes[0];
  for (size_t i = 1; i < kWidth; ++i) top = lanes[i] > top ? lanes[i] : top;
  return top;
}

// Σ function(i), where function(i) is a vector for a whole step and function(i, rest) one whose lanes from `rest` on are 0.
template <typename Whole, typename Rest>
inline float SumRow(size_t n, Whole whole, Rest rest) {
  V first = Set(0), second = Set(0);
  size_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) first = first + whole(i), second = second + whole(i + kWidth);
  for (; i + kWidth <= n; i += kWidth) first = first + whole(i);
  if (i < n) second = second + rest(i, n - i);
  return SumLanes(first + second);
}

// A vector of zeros but for the first `count` lanes of x.
inline V KeepFirst(V x, size_t count) {
  float lanes[kWidth] = {};
  StoreFirst(lanes, x, count);
  return Load(lanes);
}

void LayerNormRow(const float* x, const float* scale, const float* bias, float* y, size_t n, float epsilon) {
  const float count = static_cast<float>(n);
  const float sum = SumRow(
      n, [&](size_t i) { return Load(x + i); }, [&](size_t i, size_t rest) { return LoadFirst(x + i, rest); });
  const V mean = Set(sum / count);
  const float squares = SumRow(
      n,
      [&](size_t i) {
        const V centred = Load(x + i) - mean;
        return centred * centred;
      },
      [&](size_t i, size_t rest) {
        const V centred = KeepFirst(LoadFirst(x + i, rest) - mean, rest);
        return centred * centred;
      });
  const V factor = Set(1.0f / sqrtf(squares / count + epsilon));
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const V scaled = (Load(x + i) - mean) * factor * Load(scale + i);
    Store(y + i, bias ? scaled + Load(bias + i) : scaled);
  }
  if (i == n) return;
  const size_t rest = n - i;
  const V scaled = (LoadFirst(x + i, rest) - mean) * factor * LoadFirst(scale + i, rest);
  StoreFirst(y + i, bias ? scaled + LoadFirst(bias + i, rest) : scaled, rest);
}

void SoftmaxRow(const float* x, float* y, size_t n) {
  if (n == 0) return;
  V tops = Set(x[0]);
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) tops = Max(tops, Load(x + i));
  float top = MaxLane(tops);
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;
  const V highest = Set(top);
  const float sum = SumRow(
      n,
      [&](size_t k) {
        const V e = Exp(Load(x + k) - highest);
        Store(y + k, e);
        return e;
      },
      [&](size_t k, size_t rest) {
        const V e = KeepFirst(Exp(LoadFirst(x + k, rest) - highest), rest);
        StoreFirst(y + k, e, rest);
        return e;
      });
  const V all = Set(sum);
  for (i = 0; i + kWidth <= n; i += kWidth) Store(y + i, Load(y + i) / all);
  if (i < n) StoreFirst(y + i, LoadFirst(y + i, n - i) / all, n - i);
}

void FillRows(SimdTable& table) {
  table.layer_norm_row = LayerNormRow;
  table.softmax_row = SoftmaxRow;
}

}  // namespace
}  // namespace npustream::kernels
