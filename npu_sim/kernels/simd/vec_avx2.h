#pragma once
// A vector of 8 floats; see README.md in this folder.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace npustream::kernels {
namespace {

struct V {
  __m256 v;
};
inline constexpr size_t kWidth = 8;

inline __m256i FirstLanes(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline V Load(const float* p) { return {_mm256_loadu_ps(p)}; }
inline V LoadFirst(const float* p, size_t n) { return {_mm256_maskload_ps(p, FirstLanes(n))}; }
inline void Store(float* p, V x) { _mm256_storeu_ps(p, x.v); }
inline void StoreFirst(float* p, V x, size_t n) { _mm256_maskstore_ps(p, FirstLanes(n), x.v); }
inline V Set(float x) { return {_mm256_set1_ps(x)}; }
inline V operator+(V a, V b) { return {_mm256_add_ps(a.v, b.v)}; }
inline V operator-(V a, V b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline V operator*(V a, V b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline V operator/(V a, V b) { return {_mm256_div_ps(a.v, b.v)}; }
inline V MulAdd(V a, V b, V c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }      // a·b + c
inline V MulSub(V a, V b, V c) { return {_mm256_fmsub_ps(a.v, b.v, c.v)}; }      // a·b − c
inline V NegMulAdd(V a, V b, V c) { return {_mm256_fnmadd_ps(a.v, b.v, c.v)}; }  // c − a·b
inline V Max(V a, V b) { return {_mm256_max_ps(a.v, b.v)}; }                     // b where a is NaN
inline V Min(V a, V b) { return {_mm256_min_ps(a.v, b.v)}; }
inline V Sqrt(V a) { return {_mm256_sqrt_ps(a.v)}; }
inline V Abs(V a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
inline V RoundEven(V a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline V Floor(V a) { return {_mm256_floor_ps(a.v)}; }
inline V Ceil(V a) { return {_mm256_ceil_ps(a.v)}; }
// a·2^n for whole n; in two halves, so that results may be infinite or denormal.
inline V ScaleByPowerOf2(V a, V n) {
  const __m256i bounded =
      _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(n.v, _mm256_set1_ps(250)), _mm256_set1_ps(-250)));
  const __m256i half = _mm256_srai_epi32(bounded, 1);
  const __m256i bias = _mm256_set1_epi32(127);
  const __m256 first = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  const __m256 second =
      _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(bounded, half), bias), 23));
  return {_mm256_mul_ps(_mm256_mul_ps(a.v, first), second)};
}
// For finite a ≥ 1.
inline V Reciprocal(V a) { return {_mm256_div_ps(_mm256_set1_ps(1), a.v)}; }
inline V SelectLess(V a, V b, V then, V otherwise) {
  return {_mm256_blendv_ps(otherwise.v, then.v, _mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ))};
}
inline V WithSignOf(V magnitude, V sign) {
  const __m256 mask = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(_mm256_and_ps(mask, sign.v), _mm256_andnot_ps(mask, magnitude.v))};
}
// Limits |a| to `bound` ≥ 0, keeping the sign.
inline V ClampMagnitude(V a, V bound) { return Max(V{_mm256_sub_ps(_mm256_setzero_ps(), bound.v)}, Min(bound, a)); }
// The bits of `a` moved up into the exponent: 2^(n − 127) when the low bits of `a` hold n, 0 < n < 255.
inline V LowBitsToExponent(V a) { return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a.v), 23))}; }

}  // namespace
}  // namespace npustream::kernels
