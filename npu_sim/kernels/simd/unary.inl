// Elementwise functions of one input. Part of a table_*.cpp, after functions.inl.
namespace npustream::kernels {
namespace {

template <typename Op>
void RunUnary(const float* x, float* y, size_t n, float a, float b) {
  const V va = Set(a), vb = Set(b);
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) Store(y + i, Op::Apply(Load(x + i), va, vb));
  if (i < n) StoreFirst(y + i, Op::Apply(LoadFirst(x + i, n - i), va, vb), n - i);
}

// `a` other than 0 selects the approximation by tanh.
void RunGelu(const float* x, float* y, size_t n, float a, float b) {
  a != 0 ? RunUnary<GeluTanh>(x, y, n, a, b) : RunUnary<Gelu>(x, y, n, a, b);
}

// ln(1 + e^x), by the library: rare, and accuracy at both ends matters more than speed.
void RunSoftplus(const float* x, float* y, size_t n, float, float) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] + log1pf(expf(-x[i])) : log1pf(expf(x[i]));
}

void FillUnary(SimdTable& table) {
  const auto set = [&](UnaryOp op, SimdTable::Unary function) { table.unary[static_cast<int>(op)] = function; };
  set(UnaryOp::kIdentity, RunUnary<Identity>);
  set(UnaryOp::kRelu, RunUnary<Relu>);
  set(UnaryOp::kLeakyRelu, RunUnary<LeakyRelu>);
  set(UnaryOp::kClip, RunUnary<Clip>);
  set(UnaryOp::kSigmoid, RunUnary<SigmoidOp>);
  set(UnaryOp::kSilu, RunUnary<Silu>);
  set(UnaryOp::kHardSwish, RunUnary<HardSwish>);
  set(UnaryOp::kHardSigmoid, RunUnary<HardSigmoid>);
  set(UnaryOp::kTanh, RunUnary<TanhOp>);
  set(UnaryOp::kElu, RunUnary<Elu>);
  set(UnaryOp::kMish, RunUnary<Mish>);
  set(UnaryOp::kGelu, RunGelu);
  set(UnaryOp::kErf, RunUnary<ErfOp>);
  set(UnaryOp::kExp, RunUnary<ExpOp>);
  set(UnaryOp::kSqrt, RunUnary<SqrtOp>);
  set(UnaryOp::kNeg, RunUnary<Neg>);
  set(UnaryOp::kAbs, RunUnary<AbsOp>);
  set(UnaryOp::kReciprocal, RunUnary<ReciprocalOp>);
  set(UnaryOp::kFloor, RunUnary<FloorOp>);
  set(UnaryOp::kCeil, RunUnary<CeilOp>);
  set(UnaryOp::kRound, RunUnary<RoundOp>);
  set(UnaryOp::kSoftplus, RunSoftplus);
  set(UnaryOp::kSelu, RunUnary<Selu>);
}

}  // namespace
}  // namespace npustream::kernels
