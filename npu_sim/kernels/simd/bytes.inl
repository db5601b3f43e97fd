// Kernels on quantised tensors: bytes in groups of kWidth channels. Part of a bytes_*.cpp, after functions.inl, quick.inl and tile.inl.
namespace npustream::kernels {
namespace {

inline V HoldBytes(V x, V low, V high) { return Min(Max(x, low), high); }

// One group of channels; the functions of its pixels' sums. kShift and kHold: see StoreBytes4.
template <typename Op, bool kResidual, bool kShift = true, bool kHold = true>
void FinishGroup(const ByteFinish& f, int64_t g) {
  const V a = Set(f.a), b = Set(f.b), factor = Load(f.factor + g * f.factor_group_stride);
  const V scale = Load(f.scale + g * kBlock), bias = Load(f.bias + g * kBlock), residual_scale = Set(f.residual_scale);
  const int32_t* sums = f.sums + g * f.sum_group_stride;
  const uint8_t* residual = f.residual + (kResidual ? g * f.y_group_stride : 0);
  uint8_t* y = f.y + g * f.y_group_stride;
  const auto value = [&](int64_t p) __attribute__((always_inline)) {
    V x = MulAdd(ToReal(LoadInts(sums + p * kBlock)), scale, bias);
    if constexpr (kResidual) x = MulAdd(LoadBytes(residual + p * kBlock), residual_scale, x);
    if constexpr (!std::is_same_v<Op, Identity>) x = Op::Apply(x, a, b) * factor;
    return x;
  };
  const auto low = static_cast<uint8_t>(f.low), high = static_cast<uint8_t>(f.high);
  const auto zero = static_cast<int16_t>(f.zero_point);
  int64_t p = 0;
  for (; p + 4 <= f.pixels; p += 4) {
    StoreBytes4<kShift, kHold>(y + p * kBlock, value(p), value(p + 1), value(p + 2), value(p + 3), zero, low, high);
  }
  if (p == f.pixels) return;
  const V first = value(p), second = p + 1 < f.pixels ? value(p + 1) : first;
  const V third = p + 2 < f.pixels ? value(p + 2) : first;
  StoreBytes4<kShift, kHold>(y + p * kBlock, first, second, third, first, zero, low, high, f.pixels - p);
}

template <typename Op>
void FinishBytes(const ByteFinish& f) {
  auto finish = FinishGroup<Op, false>;
  if (f.residual) {
    finish = FinishGroup<Op, true>;
  } else if constexpr (std::is_same_v<Op, Identity>) {
    // Where there is nothing else to do, it is worth leaving out what does nothing.
    if (f.low <= 0 && f.high >= 255)
      finish = f.zero_point == 0 ? FinishGroup<Op, false, false, false> : FinishGroup<Op, false, true, false>;
  }
  for (int64_t g = 0; g < f.groups; ++g) finish(f, g);
}

void FinishReals(const ByteFinish& f) {
  const V residual_scale = Set(f.residual_scale);
  for (int64_t g = 0; g < f.groups; ++g) {
    const V scale = Load(f.scale + g * kBlock), bias = Load(f.bias + g * kBlock);
    for (int64_t p = 0; p < f.pixels; ++p) {
      V x = MulAdd(ToReal(LoadInts(f.sums + g * f.sum_group_stride + p * kBlock)), scale, bias);
      const int64_t at = g * f.y_group_stride + p * kBlock;
      if (f.residual) x = MulAdd(LoadBytes(f.residual + at), residual_scale, x);
      Store(f.real_y + at, x);
    }
  }
}

// Plain loops, which the compiler turns into vectors.
void FinishRow(const int32_t* sums, const int32_t* offsets, const float* scales, const float* biases, float* y,
               size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(offsets[i]));
    y[i] = static_cast<float>(sum) * scales[i];
  }
  if (!biases) return;
  for (size_t i = 0; i < n; ++i) y[i] += biases[i];
}

// Sums of kPixels pixels (even when they come in pairs). A window of kRows × kQuads; 0: any.
template <int kPixels, bool kPairs, int kRows, int kQuads>
void ByteDepthwiseTile(const ByteDepthwiseRow& r, int64_t pixel) {
  constexpr int kMembers = kPairs ? 2 : 1, kVectors = kPixels / kMembers;
  const int64_t rows = kRows > 0 ? kRows : r.kh, quads = kQuads > 0 ? kQuads : r.quads;
  VI sum[kPixels];
  const VI bias = LoadInts(r.bias);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = bias;
  const int8_t* w = r.w;
  const int64_t step = (kPairs ? 1 : quads) * kBlock * 4, start = pixel / kMembers * step;
#pragma GCC unroll 5
  for (int64_t kh = 0; kh < rows; ++kh) {
#pragma GCC unroll 2
    for (int64_t quad = 0; quad < quads; ++quad) {
      const uint8_t* x = r.lines[kh] + start + quad * kMembers * kBlock * 4;
      VI weight[kMembers];
#pragma GCC unroll 2
      for (int m = 0; m < kMembers; ++m) weight[m] = LoadQuads(w + m * kBlock * 4);
      w += kMembers * kBlock * 4;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const VI source = LoadQuads(reinterpret_cast<const int8_t*>(x + v * step));
#pragma GCC unroll 2
        for (int m = 0; m < kMembers; ++m)
          sum[v * kMembers + m] = Dot4(sum[v * kMembers + m], source, weight[m]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) StoreInts(r.sums + (pixel + p) * kBlock, sum[p]);
}

template <bool kPairs, int kRows, int kQuads>
void ByteDepthwiseRun(const ByteDepthwiseRow& r) {
  int64_t pixel = 0;
  for (; pixel + 8 <= r.pixels; pixel += 8) ByteDepthwiseTile<8, kPairs, kRows, kQuads>(r, pixel);
  if (pixel + 4 <= r.pixels) {
    ByteDepthwiseTile<4, kPairs, kRows, kQuads>(r, pixel);
    pixel += 4;
  }
  if (pixel + 2 <= r.pixels) {
    ByteDepthwiseTile<2, kPairs, kRows, kQuads>(r, pixel);
    pixel += 2;
  }
  if (pixel < r.pixels) ByteDepthwiseTile<kPairs ? 2 : 1, kPairs, kRows, kQuads>(r, pixel);
}

// Sums of a last odd pixel's neighbour are written as well: there must be room for an even count.
void RunByteDepthwise(const ByteDepthwiseRow& r) {
  if (!r.pairs) return r.kh == 3 && r.quads == 1 ? ByteDepthwiseRun<false, 3, 1>(r) : ByteDepthwiseRun<false, 0, 0>(r);
  if (r.kh == 3 && r.quads == 1) return ByteDepthwiseRun<true, 3, 1>(r);
  if (r.kh == 5 && r.quads == 2) return ByteDepthwiseRun<true, 5, 2>(r);
  ByteDepthwiseRun<true, 0, 0>(r);
}

// By value: the compiler would think that the bytes which are stored might change what is read through a reference.
void GatherFourPixels(const FourPixelRow r) {
  const auto spread = [&](int64_t first) {
    uint8_t pixels[4 * kWidth];
    memset(pixels, r.outside, sizeof(pixels));
    for (int64_t t = 0; t < 4; ++t) {
      const int64_t at = first + t * r.dilation;
      if (at >= 0 && at < r.pixels) memcpy(pixels + t * kBlock, r.row + at * kBlock, kWidth);
    }
    return FourPixels(pixels, 0, 4, 0);
  };
  uint8_t* to = r.to;
  uint8_t* const end = to + r.vectors * r.to_step;
  for (int64_t first = r.first; to < end; first += r.step, to += r.to_step) {
    VI quads;
    if (r.dilation > 1) {
      quads = spread(first);
    } else if (first < 0 || first + 4 > r.pixels) {
      quads = FourPixels(r.row, first, r.pixels, r.outside);
    } else {
      quads = FourPixels(r.row + first * kBlock, 0, 4, 0);
    }
    memcpy(to, &quads, sizeof(quads));
  }
}

void Quantize(const float* x, uint8_t* y, size_t n, float scale, float zero_point) {
  const V s = Set(scale), inverse = Set(1 / scale), zero = Set(zero_point), low = Set(0), high = Set(255);
  const auto step = [&](V value) {
    // A division costs more than all the rest. The quotient's error is taken out once, which leaves it as exact.
    const V quotient = value * inverse;
    return HoldBytes(RoundEven(MulAdd(NegMulAdd(quotient, s, value), inverse, quotient)) + zero, low, high);
  };
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) StoreBytes(y + i, step(Load(x + i)));
  if (i == n) return;
  uint8_t last[kWidth];
  StoreBytes(last, step(LoadFirst(x + i, n - i)));
  memcpy(y + i, last, n - i);
}

void Dequantize(const uint8_t* x, float* y, size_t n, float scale, float zero_point) {
  const V s = Set(scale), zero = Set(zero_point);
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) Store(y + i, (LoadBytes(x + i) - zero) * s);
  for (; i < n; ++i) y[i] = (static_cast<float>(x[i]) - zero_point) * scale;
}

struct ByteAdd {
  static V Apply(V x, V y, const ByteBinary& b) {
    return MulAdd(x, Set(b.x_scale), MulAdd(y, Set(b.y_scale), Set(b.offset)));
  }
};
struct ByteMul {
  static V Apply(V x, V y, const ByteBinary& b) {
    return MulAdd((x - Set(b.x_zero)) * (y - Set(b.y_zero)), Set(b.x_scale), Set(b.offset));
  }
};
template <typename Op>
void RunByteBinary(const ByteBinary& b) {
  const V low = Set(b.low), high = Set(b.high);
  const auto value = [&](size_t i) __attribute__((always_inline)) {
    return Op::Apply(LoadBytes(b.x + i), LoadBytes(b.y + i), b);
  };
  const auto low_byte = static_cast<uint8_t>(b.low), high_byte = static_cast<uint8_t>(b.high);
  size_t i = 0;
  for (; i + 4 * kWidth <= b.n; i += 4 * kWidth) {
    StoreBytes4<false, true>(b.z + i, value(i), value(i + kWidth), value(i + 2 * kWidth), value(i + 3 * kWidth), 0,
                             low_byte, high_byte);
  }
  for (; i + kWidth <= b.n; i += kWidth)
    StoreBytes(b.z + i, HoldBytes(value(i), low, high));
  if (i == b.n) return;
  uint8_t x[kWidth] = {}, y[kWidth] = {}, z[kWidth];
  memcpy(x, b.x + i, b.n - i);
  memcpy(y, b.y + i, b.n - i);
  StoreBytes(z, HoldBytes(Op::Apply(LoadBytes(x), LoadBytes(y), b), low, high));
  memcpy(b.z + i, z, b.n - i);
}

// A length that is known makes vectors of the loop.
template <size_t kBytes>
void MaxPixels(const uint8_t* x, size_t step, uint8_t* y, size_t count) {
  for (; count > 0; --count, x += step, y += kBytes) {
    for (size_t i = 0; i < kBytes; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
  }
}

void MaxBytes(const uint8_t* x, size_t step, uint8_t* y, size_t count, size_t block) {
  if (step != block && block == kWidth) return MaxPixels<kWidth>(x, step, y, count);
  if (step != block) {
    for (; count > 0; --count, x += step, y += block) MaxPixels<1>(x, 1, y, block);
    return;
  }
  const size_t n = count * block, whole = n / 64;
  MaxPixels<64>(x, 64, y, whole);
  MaxPixels<1>(x + whole * 64, 1, y + whole * 64, n % 64);
}

void Interleave(const uint8_t* const rows[3], uint8_t* __restrict pixels, size_t n) {
  const uint8_t* __restrict a = rows[0];
  const uint8_t* __restrict b = rows[1];
  const uint8_t* __restrict c = rows[2];
  for (size_t i = 0; i < n; ++i) {
    const uint32_t pixel = a[i] | static_cast<uint32_t>(b[i]) << 8 | static_cast<uint32_t>(c[i]) << 16;
    memcpy(pixels + i * 4, &pixel, sizeof(pixel));
  }
}

void SumBytes(const uint8_t* x, int32_t* sums, size_t pixels, size_t block) {
  if (block != kWidth) {
    for (; pixels > 0; --pixels, x += block) {
      for (size_t i = 0; i < block; ++i) sums[i] += x[i];
    }
    return;
  }
  int32_t lanes[kWidth] = {};
  for (; pixels > 0; --pixels, x += kWidth) {
    for (size_t i = 0; i < kWidth; ++i) lanes[i] += x[i];
  }
  for (size_t i = 0; i < kWidth; ++i) sums[i] += lanes[i];
}

void LookUpPlain(const uint8_t* x, uint8_t* y, size_t n, const uint8_t* table) {
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}
#ifdef __AVX512VNNI__
// Two tables of 128 bytes in four registers; the top bit picks one.
__attribute__((target("avx512vbmi"))) void LookUpPermuted(const uint8_t* x, uint8_t* y, size_t n,
                                                          const uint8_t* table) {
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64),
                c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
  for (size_t i = 0; i < n; i += 64) {
    const __mmask64 some = n - i >= 64 ? ~__mmask64{0} : (__mmask64{1} << (n - i)) - 1;
    const __m512i index = _mm512_maskz_loadu_epi8(some, x + i);
    const __m512i low = _mm512_permutex2var_epi8(a, index, b), high = _mm512_permutex2var_epi8(c, index, d);
    _mm512_mask_storeu_epi8(y + i, some, _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high));
  }
}
#endif

void FinishGelu(const ByteFinish& finish) {
  finish.a != 0 ? FinishBytes<GeluTanh>(finish) : FinishBytes<Gelu>(finish);
}

void FillBytes(SimdTable& table) {
  SetAllTiles<ByteMath>(table.byte_conv);
  const auto set = [&](UnaryOp op, void (*function)(const ByteFinish&)) {
    table.byte_finish[static_cast<int>(op)] = function;
  };
  set(UnaryOp::kIdentity, FinishBytes<Identity>);
  set(UnaryOp::kRelu, FinishBytes<Relu>);
  set(UnaryOp::kClip, FinishBytes<Clip>);
  set(UnaryOp::kLeakyRelu, FinishBytes<LeakyRelu>);
  set(UnaryOp::kSigmoid, FinishBytes<QuickSigmoid>);
  set(UnaryOp::kSilu, FinishBytes<QuickSilu>);
  set(UnaryOp::kHardSwish, FinishBytes<HardSwish>);
  set(UnaryOp::kHardSigmoid, FinishBytes<HardSigmoid>);
  set(UnaryOp::kTanh, FinishBytes<TanhOp>);
  set(UnaryOp::kElu, FinishBytes<Elu>);
  set(UnaryOp::kMish, FinishBytes<Mish>);
  set(UnaryOp::kGelu, FinishGelu);
  table.real_finish = FinishReals;
  table.row_finish = FinishRow;
  table.byte_depthwise = RunByteDepthwise;
  table.four_pixels = GatherFourPixels;
  table.byte_max = MaxBytes;
  table.interleave = Interleave;
  table.byte_sums = SumBytes;
  table.look_up = LookUpPlain;
#ifdef __AVX512VNNI__
  if (__builtin_cpu_supports("avx512vbmi")) table.look_up = LookUpPermuted;
#endif
  table.quantize = Quantize;
  table.dequantize = Dequantize;
  table.byte_add = RunByteBinary<ByteAdd>;
  table.byte_mul = RunByteBinary<ByteMul>;
}

}  // namespace
}  // namespace npustream::kernels
