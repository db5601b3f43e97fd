// Kernels on quantised tensors: bytes in groups of kWidth channels. Part of a bytes_*.cpp, after functions.inl and tile.inl.
namespace npustream::kernels {
namespace {

inline V HoldBytes(V x, V low, V high) { return Min(Max(x, low), high); }

// To about 1e-4 of the result (4e-4 with AVX2): less than the steps of a byte.
struct ByteSigmoid {
  static V Apply(V x, V, V) {
    const V magic = Set(12582912.0f + 127), bounded = ClampMagnitude(x, Set(87));
    const V m = NegMulAdd(bounded, Set(1.44269504f), magic);
    const V f = MulAdd(bounded, Set(1.44269504f), m - magic);
    // 2^−f for |f| ≤ 1/2 by the cubic of least relative error, 7.5e-5.
    V p = MulAdd(Set(-0.05517167f), f, Set(0.24261112f));
    p = MulAdd(p, f, Set(-0.69326099f));
    p = MulAdd(p, f, Set(0.99992807f));
    return QuickReciprocal(MulAdd(p, LowBitsToExponent(m), Set(1)));
  }
};
struct ByteSilu {
  static V Apply(V x, V a, V b) { return x * ByteSigmoid::Apply(x, a, b); }
};

// One group of channels; the functions of its pixels' sums.
template <typename Op, bool kResidual>
void FinishGroup(const ByteFinish& f, int64_t g) {
  const V a = Set(f.a), b = Set(f.b), inverse = Set(f.inverse_scale);
  const V scale = Load(f.scale + g * kBlock), bias = Load(f.bias + g * kBlock), residual_scale = Set(f.residual_scale);
  const int32_t* sums = f.sums + g * f.sum_group_stride;
  const uint8_t* residual = f.residual + (kResidual ? g * f.y_group_stride : 0);
  uint8_t* y = f.y + g * f.y_group_stride;
  const auto value = [&](int64_t p) __attribute__((always_inline)) {
    V x = MulAdd(ToReal(LoadInts(sums + p * kBlock)), scale, bias);
    if constexpr (kResidual) x = MulAdd(LoadBytes(residual + p * kBlock), residual_scale, x);
    if constexpr (!std::is_same_v<Op, Identity>) x = Op::Apply(x, a, b) * inverse;
    return x;
  };
  const auto low = static_cast<uint8_t>(f.low), high = static_cast<uint8_t>(f.high);
  const auto zero = static_cast<int16_t>(f.zero_point);
  int64_t p = 0;
  for (; p + 4 <= f.pixels; p += 4)
    StoreBytes4(y + p * kBlock, value(p), value(p + 1), value(p + 2), value(p + 3), zero, low, high);
  for (; p < f.pixels; ++p) StoreBytes(y + p * kBlock, HoldBytes(RoundEven(value(p)) + Set(f.zero_point), Set(f.low), Set(f.high)));
}

template <typename Op>
void FinishBytes(const ByteFinish& f) {
  for (int64_t g = 0; g < f.groups; ++g) {
    if (f.residual) {
      FinishGroup<Op, true>(f, g);
    } else {
      FinishGroup<Op, false>(f, g);
    }
  }
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

// kPixels pixels (even when they come in pairs).
template <int kPixels, bool kPairs>
void ByteDepthwiseTile(const ByteDepthwiseRow& r, int64_t pixel) {
  constexpr int kMembers = kPairs ? 2 : 1, kVectors = kPixels / kMembers;
  VI sum[kPixels];
  const VI bias = LoadInts(r.bias);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = bias;
  const int8_t* w = r.w;
  const int64_t start = pixel / kMembers * r.pixel_stride;
  for (int64_t kh = 0; kh < r.kh; ++kh) {
    for (int64_t quad = 0; quad < r.quads; ++quad) {
      const uint8_t* x = r.lines[kh] + start + quad * r.quad_stride;
      VI weight[kMembers];
#pragma GCC unroll 2
      for (int m = 0; m < kMembers; ++m) weight[m] = LoadQuads(w + m * kBlock * 4);
      w += kMembers * kBlock * 4;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const VI source = LoadQuads(reinterpret_cast<const int8_t*>(x + v * r.pixel_stride));
#pragma GCC unroll 2
        for (int m = 0; m < kMembers; ++m)
          sum[v * kMembers + m] = Dot4(sum[v * kMembers + m], source, weight[m]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) StoreInts(r.sums + (pixel + p) * kBlock, sum[p]);
}

// Sums of a last odd pixel's neighbour are written as well: there must be room for an even count.
void RunByteDepthwise(const ByteDepthwiseRow& r) {
  int64_t pixel = 0;
  if (r.pairs) {
    for (; pixel + 8 <= r.pixels; pixel += 8) ByteDepthwiseTile<8, true>(r, pixel);
    for (; pixel < r.pixels; pixel += 2) ByteDepthwiseTile<2, true>(r, pixel);
  } else {
    for (; pixel + 8 <= r.pixels; pixel += 8) ByteDepthwiseTile<8, false>(r, pixel);
    for (; pixel < r.pixels; ++pixel) ByteDepthwiseTile<1, false>(r, pixel);
  }
}

void GatherFourPixels(const uint8_t* x, uint8_t* to, size_t vectors, size_t step, size_t tap_step, size_t to_step) {
  for (size_t i = 0; i < vectors; ++i, x += step, to += to_step) {
    VI quads;
    if (tap_step == kWidth) {
      quads = FourPixels(x);
    } else {
      uint8_t pixels[4 * kWidth];
      for (size_t t = 0; t < 4; ++t) memcpy(pixels + t * kWidth, x + t * tap_step, kWidth);
      quads = FourPixels(pixels);
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
  size_t i = 0;
  for (; i + kWidth <= b.n; i += kWidth)
    StoreBytes(b.z + i, HoldBytes(Op::Apply(LoadBytes(b.x + i), LoadBytes(b.y + i), b), low, high));
  if (i == b.n) return;
  uint8_t x[kWidth] = {}, y[kWidth] = {}, z[kWidth];
  memcpy(x, b.x + i, b.n - i);
  memcpy(y, b.y + i, b.n - i);
  StoreBytes(z, HoldBytes(Op::Apply(LoadBytes(x), LoadBytes(y), b), low, high));
  memcpy(b.z + i, z, b.n - i);
}

void MaxBytes(const uint8_t* x, uint8_t* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
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

void FillBytes(SimdTable& table) {
  SetAllTiles<ByteMath>(table.byte_conv);
  const auto set = [&](UnaryOp op, void (*function)(const ByteFinish&)) {
    table.byte_finish[static_cast<int>(op)] = function;
  };
  set(UnaryOp::kIdentity, FinishBytes<Identity>);
  set(UnaryOp::kRelu, FinishBytes<Relu>);
  set(UnaryOp::kClip, FinishBytes<Clip>);
  set(UnaryOp::kLeakyRelu, FinishBytes<LeakyRelu>);
  set(UnaryOp::kSigmoid, FinishBytes<ByteSigmoid>);
  set(UnaryOp::kSilu, FinishBytes<ByteSilu>);
  set(UnaryOp::kHardSwish, FinishBytes<HardSwish>);
  set(UnaryOp::kHardSigmoid, FinishBytes<HardSigmoid>);
  set(UnaryOp::kTanh, FinishBytes<TanhOp>);
  set(UnaryOp::kElu, FinishBytes<Elu>);
  set(UnaryOp::kMish, FinishBytes<Mish>);
  set(UnaryOp::kGelu, FinishBytes<Gelu>);
  table.real_finish = FinishReals;
  table.byte_depthwise = RunByteDepthwise;
  table.four_pixels = GatherFourPixels;
  table.byte_max = MaxBytes;
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
