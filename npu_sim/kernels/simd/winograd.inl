// The transformations of Winograd's convolution, for squares of 2 and 4 results. Part of a conv_*.cpp, after tile.inl.
namespace npustream::kernels {
namespace {

template <int kSide>
struct Winograd;

template <>
struct Winograd<2> {
  static void Source(V (&d)[4]) {
    const V a = d[0] - d[2], b = d[1] + d[2], c = d[2] - d[1], e = d[1] - d[3];
    d[0] = a, d[1] = b, d[2] = c, d[3] = e;
  }
  static void Result(const V (&m)[4], V (&y)[2]) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
  }
};

template <>
struct Winograd<4> {
  static void Source(V (&d)[6]) {
    const V four = Set(4), five = Set(5), two = Set(2);
    const V even = NegMulAdd(four, d[2], d[4]), odd = NegMulAdd(four, d[1], d[3]);
    const V even2 = d[4] - d[2], odd2 = d[3] - d[1];
    const V first = MulAdd(four, d[0], NegMulAdd(five, d[2], d[4])),
            last = MulAdd(four, d[1], NegMulAdd(five, d[3], d[5]));
    d[0] = first, d[1] = even + odd, d[2] = even - odd;
    d[3] = MulAdd(two, odd2, even2), d[4] = NegMulAdd(two, odd2, even2), d[5] = last;
  }
  static void Result(const V (&m)[6], V (&y)[4]) {
    const V sum = m[1] + m[2], difference = m[1] - m[2], sum2 = m[3] + m[4], difference2 = m[3] - m[4];
    y[0] = m[0] + sum + sum2;
    y[1] = MulAdd(Set(2), difference2, difference);
    y[2] = MulAdd(Set(4), sum2, sum);
    y[3] = MulAdd(Set(8), difference2, difference) + m[5];
  }
};

template <int kSide>
void TransformWinogradSource(const WinogradSource& s) {
  constexpr int kSize = kSide + 2;
  for (int64_t tile = 0; tile < s.tiles; ++tile) {
    const int64_t left = s.left + tile * kSide;
    const bool inside = s.top >= 0 && s.top + kSize <= s.height && left >= 0 && left + kSize <= s.width;
    const float* x = s.x + (s.top * s.width + left) * kBlock;
    V lines[kSize][kSize];  // [column][row]
    for (int c = 0; c < kSize; ++c) {
#pragma GCC unroll 6
      for (int r = 0; r < kSize; ++r) {
        const bool there = inside || (s.top + r >= 0 && s.top + r < s.height && left + c >= 0 && left + c < s.width);
        lines[c][r] = there ? Load(x + (r * s.width + c) * kBlock) : Set(0);
      }
      Winograd<kSide>::Source(lines[c]);
    }
    float* y = s.y + tile * kBlock;
    for (int r = 0; r < kSize; ++r) {
      V line[kSize];
#pragma GCC unroll 6
      for (int c = 0; c < kSize; ++c) line[c] = lines[c][r];
      Winograd<kSide>::Source(line);
#pragma GCC unroll 6
      for (int c = 0; c < kSize; ++c, y += s.point_stride) Store(y, line[c]);
    }
  }
}

template <int kSide>
void TransformWinogradResult(const WinogradResult& s) {
  constexpr int kSize = kSide + 2;
  const V bias = Load(s.bias);
  for (int64_t first = 0, tile = 0; first < s.columns; first += kSide, ++tile) {
    const float* x = s.x + tile * kBlock;
    V lines[kSide][kSize];  // [row][column], columns of points
    for (int c = 0; c < kSize; ++c) {
      V points[kSize], sums[kSide];
#pragma GCC unroll 6
      for (int r = 0; r < kSize; ++r) points[r] = Load(x + (r * kSize + c) * s.point_stride);
      Winograd<kSide>::Result(points, sums);
#pragma GCC unroll 4
      for (int r = 0; r < kSide; ++r) lines[r][c] = sums[r];
    }
    const int64_t columns = s.columns - first < kSide ? s.columns - first : kSide;
    for (int64_t r = 0; r < s.rows; ++r) {
      V results[kSide];
      Winograd<kSide>::Result(lines[r], results);
      const int64_t at = (r * s.columns + first) * kBlock;
      for (int64_t c = 0; c < columns; ++c) {
        const V sum = results[c] + bias;
        Store(s.y + at + c * kBlock, s.residual ? sum + Load(s.residual + at + c * kBlock) : sum);
      }
    }
  }
}

void SetWinograd(SimdTable& table) {
  table.winograd[0] = {TransformWinogradSource<2>, TransformWinogradResult<2>};
  table.winograd[1] = {TransformWinogradSource<4>, TransformWinogradResult<4>};
}

}  // namespace
}  // namespace npustream::kernels
