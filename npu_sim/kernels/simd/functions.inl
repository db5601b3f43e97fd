// Functions of one vector, as the structures that loops are instantiated with. Needs a vec_*.h before it.
namespace npustream::kernels {
namespace {

// e^x to about 2e-7 relative: 2^(n + f) with n whole and |f| ≤ 1/2; 2^f by a polynomial of degree 5 that was fitted
// for the least relative error (7.5e-8). NaN stays NaN, results beyond the range become 0 and infinity.
inline V Exp(V x, float highest = 128) {
  const V bounded = Min(Set(highest), Max(Set(-128), x));
  const V n = RoundEven(bounded * Set(1.44269504f));
  V f = MulSub(bounded, Set(1.44269502f), n);
  f = MulAdd(bounded, Set(1.92596299e-8f), f);
  V p = MulAdd(Set(0.001327647129f), f, Set(0.009675540961f));
  p = MulAdd(p, f, Set(0.05550713092f));
  p = MulAdd(p, f, Set(0.2402212024f));
  p = MulAdd(p, f, Set(0.6931469440f));
  p = MulAdd(p, f, Set(1));
  return ScaleByPowerOf2(p, n);
}

// 1 + e^−x for |x| ≤ 87, held at the ends beyond. The same polynomial as in Exp; adding `magic` rounds x·log2(e) to a
// whole number n and leaves n + 127 in the low bits, from where it becomes the exponent of 2^n.
inline V OnePlusExpOfMinus(V x) {
  const V magic = Set(12582912.0f + 127), bounded = ClampMagnitude(x, Set(87));
  const V m = NegMulAdd(bounded, Set(1.44269504f), magic);
  const V n = m - magic;
  // The negated fraction; odd coefficients have the other sign for it.
  const V f = MulAdd(bounded, Set(1.44269504f), n);
  V p = MulAdd(Set(-0.001327647129f), f, Set(0.009675540961f));
  p = MulAdd(p, f, Set(-0.05550713092f));
  p = MulAdd(p, f, Set(0.2402212024f));
  p = MulAdd(p, f, Set(-0.6931469440f));
  p = MulAdd(p, f, Set(1));
  return MulAdd(p, LowBitsToExponent(m), Set(1));
}

inline V Sigmoid(V x) { return Reciprocal(OnePlusExpOfMinus(x)); }

// Near zero the odd polynomial of Cephes' tanhf, elsewhere 1 − 2/(e^2|x| + 1).
inline V Tanh(V x) {
  const V magnitude = Abs(x);
  const V z = x * x;
  V p = MulAdd(Set(-5.70498872745e-3f), z, Set(2.06390887954e-2f));
  p = MulAdd(p, z, Set(-5.37397155531e-2f));
  p = MulAdd(p, z, Set(1.33314422036e-1f));
  p = MulAdd(p, z, Set(-3.33332819422e-1f));
  const V small = MulAdd(p * z, x, x);
  const V large = Set(1) - Set(2) * Reciprocal(Exp(magnitude + magnitude, 87) + Set(1));
  return SelectLess(magnitude, Set(0.625f), small, WithSignOf(large, x));
}

// Abramowitz and Stegun 7.1.26, absolute error below 2e-7; near zero the first terms of the series.
inline V Erf(V x) {
  const V magnitude = Abs(x);
  const V t = Reciprocal(MulAdd(Set(0.3275911f), magnitude, Set(1)));
  V p = MulAdd(Set(1.061405429f), t, Set(-1.453152027f));
  p = MulAdd(p, t, Set(1.421413741f));
  p = MulAdd(p, t, Set(-0.284496736f));
  p = MulAdd(p, t, Set(0.254829592f));
  const V large = NegMulAdd(p * t, Exp(Set(0) - magnitude * magnitude), Set(1));
  const V z = x * x;
  V s = MulAdd(Set(0.0052239776f), z, Set(-0.0268661706f));
  s = MulAdd(s, z, Set(0.1128379167f));
  s = MulAdd(s, z, Set(-0.3761263890f));
  s = MulAdd(s, z, Set(1.1283791671f));
  return SelectLess(magnitude, Set(0.5f), s * x, WithSignOf(large, x));
}

inline V Clamp(V x, V low, V high) { return Min(high, Max(low, x)); }

struct Identity {
  static V Apply(V x, V, V) { return x; }
};
struct Relu {
  static V Apply(V x, V, V) { return Max(Set(0), x); }
};
struct LeakyRelu {
  static V Apply(V x, V a, V) { return SelectLess(x, Set(0), x * a, x); }
};
struct Clip {
  static V Apply(V x, V a, V b) { return Clamp(x, a, b); }
};
struct SigmoidOp {
  static V Apply(V x, V, V) { return Sigmoid(x); }
};
struct Silu {
  static V Apply(V x, V, V) { return x * Sigmoid(x); }
};
struct HardSigmoid {
  static V Apply(V x, V a, V b) { return Clamp(MulAdd(x, a, b), Set(0), Set(1)); }
};
struct HardSwish {
  static V Apply(V x, V, V) { return x * Clamp(MulAdd(x, Set(1.0f / 6), Set(0.5f)), Set(0), Set(1)); }
};
struct TanhOp {
  static V Apply(V x, V, V) { return Tanh(x); }
};
struct Elu {
  static V Apply(V x, V a, V) { return SelectLess(x, Set(0), a * (Exp(x) - Set(1)), x); }
};
struct Selu {
  static V Apply(V x, V a, V b) { return b * SelectLess(x, Set(0), a * (Exp(x) - Set(1)), x); }
};
// x · tanh(ln(1 + e^x)) = x · n / (n + 2) with n = e^x (e^x + 2)
struct Mish {
  static V Apply(V x, V, V) {
    const V e = Exp(Min(Set(20), x));
    const V n = e * (e + Set(2));
    return x * (n / (n + Set(2)));
  }
};
struct Gelu {
  static V Apply(V x, V, V) { return Set(0.5f) * x * (Set(1) + Erf(x * Set(0.707106781f))); }
};
struct GeluTanh {
  static V Apply(V x, V, V) {
    const V inner = Set(0.797884561f) * MulAdd(Set(0.044715f) * x * x, x, x);
    return Set(0.5f) * x * (Set(1) + Tanh(inner));
  }
};
struct ErfOp {
  static V Apply(V x, V, V) { return Erf(x); }
};
struct ExpOp {
  static V Apply(V x, V, V) { return Exp(x); }
};
struct SqrtOp {
  static V Apply(V x, V, V) { return Sqrt(x); }
};
struct Neg {
  static V Apply(V x, V, V) { return Set(-0.0f) - x; }
};
struct AbsOp {
  static V Apply(V x, V, V) { return Abs(x); }
};
struct ReciprocalOp {
  static V Apply(V x, V, V) { return Set(1) / x; }
};
struct FloorOp {
  static V Apply(V x, V, V) { return Floor(x); }
};
struct CeilOp {
  static V Apply(V x, V, V) { return Ceil(x); }
};
struct RoundOp {
  static V Apply(V x, V, V) { return RoundEven(x); }
};

}  // namespace
}  // namespace npustream::kernels
