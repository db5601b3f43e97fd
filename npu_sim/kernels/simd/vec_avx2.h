#pragma once
// A vector of 8 floats; see README.md in this folder.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

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
// 1/a to a relative error of 1.5 · 2^−12.
inline V QuickReciprocal(V a) { return {_mm256_rcp_ps(a.v)}; }
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

// Lane c of row r and lane r of row c trade places.
inline void TransposeTile(V (&rows)[8]) {
  __m256 pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i].v, rows[i + 1].v);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i].v, rows[i + 1].v);
  }
  const auto join = [](__m256 a, __m256 b, bool high) {
    const __m256d x = _mm256_castps_pd(a), y = _mm256_castps_pd(b);
    return _mm256_castpd_ps(high ? _mm256_unpackhi_pd(x, y) : _mm256_unpacklo_pd(x, y));
  };
  // Both halves of quads[i + j] hold column j of theirs, of rows i … i + 3.
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 4; ++j) quads[i + j] = join(pairs[i + j / 2], pairs[i + j / 2 + 2], j % 2 != 0);
  }
  for (int j = 0; j < 4; ++j) {
    rows[j].v = _mm256_permute2f128_ps(quads[j], quads[4 + j], 0x20);
    rows[4 + j].v = _mm256_permute2f128_ps(quads[j], quads[4 + j], 0x31);
  }
}

// A vector of as many 32-bit integers.
struct VI {
  __m256i v;
};
inline VI LoadInts(const int32_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
inline void StoreInts(int32_t* p, VI x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.v); }
inline VI ZeroInts() { return {_mm256_setzero_si256()}; }
inline V ToReal(VI x) { return {_mm256_cvtepi32_ps(x.v)}; }
// One byte a lane.
inline V LoadBytes(const uint8_t* p) {
  return ToReal({_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))});
}
// Rounded to the nearest, ties to even; all lanes in [0, 255].
inline void StoreBytes(uint8_t* p, V x) {
  const __m256i ints = _mm256_cvtps_epi32(x.v);
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(ints), _mm256_extracti128_si256(ints, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
}
// The first `pixels` of four vectors one after another, for |lanes| < 2^31: rounded, plus `zero`, held in [0, 255] and
// then in [low, high]. Without kShift `zero` is 0, without kHold the limits are 0 and 255.
template <bool kShift, bool kHold>
inline void StoreBytes4(uint8_t* p, V a, V b, V c, V d, int16_t zero, uint8_t low, uint8_t high, int64_t pixels = 4) {
  __m256i ab = _mm256_packs_epi32(_mm256_cvtps_epi32(a.v), _mm256_cvtps_epi32(b.v));
  __m256i cd = _mm256_packs_epi32(_mm256_cvtps_epi32(c.v), _mm256_cvtps_epi32(d.v));
  if constexpr (kShift) {
    const __m256i shift = _mm256_set1_epi16(zero);
    ab = _mm256_adds_epi16(ab, shift);
    cd = _mm256_adds_epi16(cd, shift);
  }
  // Every 128 bits hold four lanes of each vector.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order);
  if constexpr (kHold) {
    bytes = _mm256_max_epu8(bytes, _mm256_set1_epi8(static_cast<char>(low)));
    bytes = _mm256_min_epu8(bytes, _mm256_set1_epi8(static_cast<char>(high)));
  }
  if (pixels == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), bytes);
  } else {
    const __m256i count = _mm256_set1_epi64x(pixels), place = _mm256_setr_epi64x(0, 1, 2, 3);
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), _mm256_cmpgt_epi64(count, place), bytes);
  }
}
// Four bytes a lane: the same four, or four of each lane.
inline VI RepeatQuad(const uint8_t* p) {
  int32_t quad;
  memcpy(&quad, p, sizeof(quad));
  return {_mm256_set1_epi32(quad)};
}
inline VI LoadQuads(const int8_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
// sum + the dot product of four unsigned and four signed bytes in each lane, exactly. (vpmaddubsw would saturate.)
inline VI Dot4(VI sum, VI unsigned_bytes, VI signed_bytes) {
  const __m256i even = _mm256_madd_epi16(_mm256_and_si256(unsigned_bytes.v, _mm256_set1_epi16(255)),
                                         _mm256_srai_epi16(_mm256_slli_epi16(signed_bytes.v, 8), 8));
  const __m256i odd =
      _mm256_madd_epi16(_mm256_srli_epi16(unsigned_bytes.v, 8), _mm256_srai_epi16(signed_bytes.v, 8));
  return {_mm256_add_epi32(sum.v, _mm256_add_epi32(even, odd))};
}
// Lane l's four bytes: byte l of four neighbouring pixels of kWidth bytes, which start at pixel `first` of a row of
// `count`; pixels outside of it are `outside`.
inline VI FourPixels(const uint8_t* row, int64_t first, int64_t count, uint8_t outside) {
  __m256i pixels;
  if (first >= 0 && first + 4 <= count) {
    pixels = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + first * 8));
  } else {
    const __m256i place = _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i inside = _mm256_andnot_si256(_mm256_cmpgt_epi64(_mm256_setzero_si256(), place),
                                               _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), place));
    pixels = _mm256_blendv_epi8(_mm256_set1_epi8(static_cast<char>(outside)),
                                _mm256_maskload_epi64(reinterpret_cast<const long long*>(row + first * 8), inside),
                                inside);
  }
  // Dwords of four channels × four pixels side by side, then bytes within.
  const __m256i dwords = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  const __m256i bytes =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  return {_mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(pixels, dwords), bytes)};
}

}  // namespace
}  // namespace npustream::kernels
