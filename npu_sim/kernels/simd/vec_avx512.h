#pragma once
// A vector of 16 floats; see README.md in this folder.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace npustream::kernels {
namespace {

struct V {
  __m512 v;
};
inline constexpr size_t kWidth = 16;

inline __mmask16 FirstLanes(size_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline V Load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline V LoadFirst(const float* p, size_t n) { return {_mm512_maskz_loadu_ps(FirstLanes(n), p)}; }
inline void Store(float* p, V x) { _mm512_storeu_ps(p, x.v); }
inline void StoreFirst(float* p, V x, size_t n) { _mm512_mask_storeu_ps(p, FirstLanes(n), x.v); }
inline V Set(float x) { return {_mm512_set1_ps(x)}; }
inline V operator+(V a, V b) { return {_mm512_add_ps(a.v, b.v)}; }
inline V operator-(V a, V b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline V operator*(V a, V b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline V operator/(V a, V b) { return {_mm512_div_ps(a.v, b.v)}; }
inline V MulAdd(V a, V b, V c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }      // a·b + c
inline V MulSub(V a, V b, V c) { return {_mm512_fmsub_ps(a.v, b.v, c.v)}; }      // a·b − c
inline V NegMulAdd(V a, V b, V c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }  // c − a·b
inline V Max(V a, V b) { return {_mm512_max_ps(a.v, b.v)}; }                     // b where a is NaN
inline V Min(V a, V b) { return {_mm512_min_ps(a.v, b.v)}; }
inline V Sqrt(V a) { return {_mm512_sqrt_ps(a.v)}; }
inline V Abs(V a) { return {_mm512_abs_ps(a.v)}; }
inline V RoundEven(V a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline V Floor(V a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
inline V Ceil(V a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
inline V ScaleByPowerOf2(V a, V n) { return {_mm512_scalef_ps(a.v, n.v)}; }  // a·2^n
// 1/a to about one unit in the last place, for finite a ≥ 1.
inline V Reciprocal(V a) {
  const __m512 estimate = _mm512_rcp14_ps(a.v);
  const __m512 error = _mm512_fnmadd_ps(a.v, estimate, _mm512_set1_ps(1));
  return {_mm512_fmadd_ps(estimate, error, estimate)};
}
inline V SelectLess(V a, V b, V then, V otherwise) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), otherwise.v, then.v)};
}
inline V WithSignOf(V magnitude, V sign) {
  const __m512i mask = _mm512_set1_epi32(static_cast<int>(0x80000000u));
  return {_mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(_mm512_castps_si512(sign.v), _mm512_castps_si512(magnitude.v), mask, 0xE4))};
}
// Limits |a| to `bound` ≥ 0, keeping the sign.
inline V ClampMagnitude(V a, V bound) { return {_mm512_range_ps(a.v, bound.v, 0x2)}; }
// The bits of `a` moved up into the exponent: 2^(n − 127) when the low bits of `a` hold n, 0 < n < 255.
inline V LowBitsToExponent(V a) { return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a.v), 23))}; }

}  // namespace
}  // namespace npustream::kernels
