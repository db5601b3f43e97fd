// Functions for results that are rounded to a byte or to bfloat16. Needs functions.inl before it.
namespace npustream::kernels {
namespace {

// To about 1e-4 of the result (4e-4 with AVX2): less than what rounding takes away.
struct QuickSigmoid {
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
struct QuickSilu {
  static V Apply(V x, V a, V b) { return x * QuickSigmoid::Apply(x, a, b); }
};

}  // namespace
}  // namespace npustream::kernels
