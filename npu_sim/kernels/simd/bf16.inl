// What the float32 sums of bfloat16 products become. Needs vec_avx512.h, functions.inl and quick.inl before it.
namespace npustream::kernels {
namespace {

enum class Stored { kNothing, kFloat, kBf16 };

template <Stored kAs>
V LoadStored(const void* base, int64_t at) {
  if constexpr (kAs == Stored::kBf16) return LoadBf16(static_cast<const uint16_t*>(base) + at);
  return Load(static_cast<const float*>(base) + at);
}
template <Stored kAs>
void StoreAs(void* base, int64_t at, V x) {
  if constexpr (kAs == Stored::kBf16) return StoreBf16(static_cast<uint16_t*>(base) + at, x);
  Store(static_cast<float*>(base) + at, x);
}

template <typename Op, Stored kResidual, Stored kResult>
void FinishReals(const RealFinish& f) {
  const V a = Set(f.a), b = Set(f.b);
  for (int64_t g = 0; g < f.groups; ++g) {
    const float* sums = f.sums + g * f.sum_group_stride;
    const int64_t first = g * f.y_group_stride;
    for (int64_t i = 0; i < f.pixels * static_cast<int64_t>(kWidth); i += kWidth) {
      V x = Load(sums + i);
      if constexpr (kResidual != Stored::kNothing) x = x + LoadStored<kResidual>(f.residual, first + i);
      StoreAs<kResult>(f.y, first + i, Op::Apply(x, a, b));
    }
  }
}

template <typename Op, Stored kResidual>
void FinishWithResidual(const RealFinish& f) {
  f.bf16_y ? FinishReals<Op, kResidual, Stored::kBf16>(f) : FinishReals<Op, kResidual, Stored::kFloat>(f);
}

template <typename Op>
void FinishAny(const RealFinish& f) {
  if (!f.residual) return FinishWithResidual<Op, Stored::kNothing>(f);
  f.bf16_residual ? FinishWithResidual<Op, Stored::kBf16>(f) : FinishWithResidual<Op, Stored::kFloat>(f);
}

void FromBf16(const uint16_t* x, float* y, size_t n) {
  for (size_t i = 0; i < n; i += kWidth) Store(y + i, LoadBf16(x + i));
}

void FillBf16(SimdTable& table) {
  const auto set = [&](UnaryOp op, void (*function)(const RealFinish&)) {
    table.bf16_finish[static_cast<int>(op)] = function;
  };
  set(UnaryOp::kIdentity, FinishAny<Identity>);
  set(UnaryOp::kRelu, FinishAny<Relu>);
  set(UnaryOp::kLeakyRelu, FinishAny<LeakyRelu>);
  set(UnaryOp::kClip, FinishAny<Clip>);
  set(UnaryOp::kSigmoid, FinishAny<QuickSigmoid>);
  set(UnaryOp::kSilu, FinishAny<QuickSilu>);
  set(UnaryOp::kHardSwish, FinishAny<HardSwish>);
  set(UnaryOp::kHardSigmoid, FinishAny<HardSigmoid>);
  set(UnaryOp::kTanh, FinishAny<TanhOp>);
  set(UnaryOp::kElu, FinishAny<Elu>);
  set(UnaryOp::kMish, FinishAny<Mish>);
  set(UnaryOp::kGelu, FinishAny<Gelu>);
  table.from_bf16 = FromBf16;
}

}  // namespace
}  // namespace npustream::kernels
