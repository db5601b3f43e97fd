// Elementwise functions of two inputs. Part of a table_*.cpp.
namespace npustream::kernels {
namespace {

struct Add {
  static V Apply(V x, V y) { return x + y; }
};
struct Sub {
  static V Apply(V x, V y) { return x - y; }
};
struct Mul {
  static V Apply(V x, V y) { return x * y; }
};
struct Div {
  static V Apply(V x, V y) { return x / y; }
};
struct MinOp {
  static V Apply(V x, V y) { return Min(x, y); }
};
struct MaxOp {
  static V Apply(V x, V y) { return Max(x, y); }
};
struct PRelu {
  static V Apply(V x, V y) { return SelectLess(x, Set(0), x * y, x); }
};

template <typename Op>
void RunBinary(const float* x, const float* y, float* z, size_t n) {
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) Store(z + i, Op::Apply(Load(x + i), Load(y + i)));
  if (i < n) StoreFirst(z + i, Op::Apply(LoadFirst(x + i, n - i), LoadFirst(y + i, n - i)), n - i);
}

template <typename Op>
void RunScalar(const float* x, float y, float* z, size_t n, bool swapped) {
  const V other = Set(y);
  const auto apply = [&](V value) { return swapped ? Op::Apply(other, value) : Op::Apply(value, other); };
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) Store(z + i, apply(Load(x + i)));
  if (i < n) StoreFirst(z + i, apply(LoadFirst(x + i, n - i)), n - i);
}

template <typename Op>
void RunLanes(const float* x, const float* y, float* z, size_t pixels, size_t block, bool swapped) {
  for (size_t lane = 0; lane < block; lane += kWidth) {
    const V other = Load(y + lane);
    for (size_t p = 0; p < pixels; ++p) {
      const V value = Load(x + p * block + lane);
      Store(z + p * block + lane, swapped ? Op::Apply(other, value) : Op::Apply(value, other));
    }
  }
}

void Blend(const float* x, const float* z, float* y, float a, float b, size_t n) {
  const V va = Set(a), vb = Set(b);
  size_t i = 0;
  for (; i + kWidth <= n; i += kWidth) Store(y + i, MulAdd(va, Load(x + i), vb * Load(z + i)));
  if (i < n) StoreFirst(y + i, MulAdd(va, LoadFirst(x + i, n - i), vb * LoadFirst(z + i, n - i)), n - i);
}

template <typename Op>
void SetBinary(SimdTable& table, BinaryOp op) {
  table.binary[static_cast<int>(op)] = RunBinary<Op>;
  table.binary_scalar[static_cast<int>(op)] = RunScalar<Op>;
  table.binary_lanes[static_cast<int>(op)] = RunLanes<Op>;
}

void FillBinary(SimdTable& table) {
  SetBinary<Add>(table, BinaryOp::kAdd);
  SetBinary<Sub>(table, BinaryOp::kSub);
  SetBinary<Mul>(table, BinaryOp::kMul);
  SetBinary<Div>(table, BinaryOp::kDiv);
  SetBinary<MinOp>(table, BinaryOp::kMin);
  SetBinary<MaxOp>(table, BinaryOp::kMax);
  SetBinary<PRelu>(table, BinaryOp::kPRelu);
  table.blend = Blend;
}

}  // namespace
}  // namespace npustream::kernels
