#pragma once
// One float at a time: the twin of the vector files that any x86-64 runs; see README.md in this folder.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace npustream::kernels {
namespace {

struct V {
  float v;
};
inline constexpr size_t kWidth = 1;

inline void TransposeTile(V (&)[1]) {}
inline V Load(const float* p) { return {*p}; }
inline V LoadFirst(const float* p, size_t n) { return {n > 0 ? *p : 0.0f}; }
inline void Store(float* p, V x) { *p = x.v; }
inline void StoreFirst(float* p, V x, size_t n) {
  if (n > 0) *p = x.v;
}
inline V Set(float x) { return {x}; }
inline V operator+(V a, V b) { return {a.v + b.v}; }
inline V operator-(V a, V b) { return {a.v - b.v}; }
inline V operator*(V a, V b) { return {a.v * b.v}; }
inline V operator/(V a, V b) { return {a.v / b.v}; }
inline V MulAdd(V a, V b, V c) { return {a.v * b.v + c.v}; }     // a·b + c
inline V MulSub(V a, V b, V c) { return {a.v * b.v - c.v}; }     // a·b − c
inline V NegMulAdd(V a, V b, V c) { return {c.v - a.v * b.v}; }  // c − a·b
inline V Max(V a, V b) { return {a.v > b.v ? a.v : b.v}; }       // b where a is NaN
inline V Min(V a, V b) { return {a.v < b.v ? a.v : b.v}; }
inline V Sqrt(V a) { return {std::sqrt(a.v)}; }
inline V Abs(V a) { return {std::fabs(a.v)}; }
inline V RoundEven(V a) { return {std::nearbyint(a.v)}; }
inline V Floor(V a) { return {std::floor(a.v)}; }
inline V Ceil(V a) { return {std::ceil(a.v)}; }
inline V ScaleByPowerOf2(V a, V n) {
  return {std::ldexp(a.v, static_cast<int>(n.v > 250 ? 250 : n.v < -250 ? -250 : n.v))};
}
// For finite a ≥ 1.
inline V Reciprocal(V a) { return {1 / a.v}; }
inline V SelectLess(V a, V b, V then, V otherwise) { return a.v < b.v ? then : otherwise; }
inline V WithSignOf(V magnitude, V sign) { return {std::copysign(magnitude.v, sign.v)}; }
// Limits |a| to `bound` ≥ 0, keeping the sign.
inline V ClampMagnitude(V a, V bound) { return Max(V{-bound.v}, Min(bound, a)); }
// The bits of `a` moved up into the exponent: 2^(n − 127) when the low bits of `a` hold n, 0 < n < 255.
inline V LowBitsToExponent(V a) {
  uint32_t bits;
  memcpy(&bits, &a.v, sizeof(bits));
  bits <<= 23;
  memcpy(&a.v, &bits, sizeof(bits));
  return a;
}

}  // namespace
}  // namespace npustream::kernels
