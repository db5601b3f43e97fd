#pragma once
// A vector of 16 floats; see README.md in this folder.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

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
inline V LoadBf16(const uint16_t* p) {
  const __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(bits, 16))};
}
// To nearest even. Not for NaN, which may become infinite.
inline void StoreBf16(uint16_t* p, V x) {
#ifdef __AVX512BF16__
  const __m256bh rounded = _mm512_cvtneps_pbh(x.v);
  memcpy(p, &rounded, sizeof(rounded));
#else
  const __m512i bits = _mm512_castps_si512(x.v), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
#endif
}
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
// 1/a to 2^−14.
inline V QuickReciprocal(V a) { return {_mm512_rcp14_ps(a.v)}; }
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

// Lane c of row r and lane r of row c trade places.
inline void TransposeTile(V (&rows)[16]) {
  __m512 pairs[16], quads[16];
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_ps(rows[i].v, rows[i + 1].v);
    pairs[i + 1] = _mm512_unpackhi_ps(rows[i].v, rows[i + 1].v);
  }
  const auto join = [](__m512 a, __m512 b, bool high) {
    const __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
    return _mm512_castpd_ps(high ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
  };
  // Every 128 bits of quads[i + j] hold column j of theirs, of rows i … i + 3.
  for (int i = 0; i < 16; i += 4) {
    for (int j = 0; j < 4; ++j) quads[i + j] = join(pairs[i + j / 2], pairs[i + j / 2 + 2], j % 2 != 0);
  }
  for (int j = 0; j < 4; ++j) {
    const __m512 even = _mm512_shuffle_f32x4(quads[j], quads[4 + j], 0x88),
                 odd = _mm512_shuffle_f32x4(quads[j], quads[4 + j], 0xdd),
                 even_below = _mm512_shuffle_f32x4(quads[8 + j], quads[12 + j], 0x88),
                 odd_below = _mm512_shuffle_f32x4(quads[8 + j], quads[12 + j], 0xdd);
    rows[j].v = _mm512_shuffle_f32x4(even, even_below, 0x88);
    rows[8 + j].v = _mm512_shuffle_f32x4(even, even_below, 0xdd);
    rows[4 + j].v = _mm512_shuffle_f32x4(odd, odd_below, 0x88);
    rows[12 + j].v = _mm512_shuffle_f32x4(odd, odd_below, 0xdd);
  }
}

// A vector of as many 32-bit integers.
struct VI {
  __m512i v;
};
inline VI LoadInts(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
inline void StoreInts(int32_t* p, VI x) { _mm512_storeu_si512(p, x.v); }
inline VI ZeroInts() { return {_mm512_setzero_si512()}; }
inline V ToReal(VI x) { return {_mm512_cvtepi32_ps(x.v)}; }
// One byte a lane.
inline V LoadBytes(const uint8_t* p) {
  return ToReal({_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))});
}
// Rounded to the nearest, ties to even; all lanes in [0, 255].
inline void StoreBytes(uint8_t* p, V x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x.v)));
}
// The first `pixels` of four vectors one after another, for |lanes| < 2^31: rounded, plus `zero`, held in [0, 255] and
// then in [low, high]. Without kShift `zero` is 0, without kHold the limits are 0 and 255.
template <bool kShift, bool kHold>
inline void StoreBytes4(uint8_t* p, V a, V b, V c, V d, int16_t zero, uint8_t low, uint8_t high, int64_t pixels = 4) {
  __m512i ab = _mm512_packs_epi32(_mm512_cvtps_epi32(a.v), _mm512_cvtps_epi32(b.v));
  __m512i cd = _mm512_packs_epi32(_mm512_cvtps_epi32(c.v), _mm512_cvtps_epi32(d.v));
  if constexpr (kShift) {
    const __m512i shift = _mm512_set1_epi16(zero);
    ab = _mm512_adds_epi16(ab, shift);
    cd = _mm512_adds_epi16(cd, shift);
  }
  // Every 128 bits hold four lanes of each vector.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(ab, cd));
  if constexpr (kHold) {
    bytes = _mm512_max_epu8(bytes, _mm512_set1_epi8(static_cast<char>(low)));
    bytes = _mm512_min_epu8(bytes, _mm512_set1_epi8(static_cast<char>(high)));
  }
  if (pixels == 4) {
    _mm512_storeu_si512(p, bytes);
  } else {
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << 4 * pixels) - 1), bytes);
  }
}
// Four bytes a lane: the same four, or four of each lane.
inline VI RepeatQuad(const uint8_t* p) {
  int32_t quad;
  memcpy(&quad, p, sizeof(quad));
  return {_mm512_set1_epi32(quad)};
}
inline VI LoadQuads(const int8_t* p) { return {_mm512_loadu_si512(p)}; }
// sum + the dot product of four unsigned and four signed bytes in each lane, exactly.
inline VI Dot4(VI sum, VI unsigned_bytes, VI signed_bytes) {
#ifdef __AVX512VNNI__
  return {_mm512_dpbusd_epi32(sum.v, unsigned_bytes.v, signed_bytes.v)};
#else
  const __m512i even = _mm512_madd_epi16(_mm512_and_si512(unsigned_bytes.v, _mm512_set1_epi16(255)),
                                         _mm512_srai_epi16(_mm512_slli_epi16(signed_bytes.v, 8), 8));
  const __m512i odd =
      _mm512_madd_epi16(_mm512_srli_epi16(unsigned_bytes.v, 8), _mm512_srai_epi16(signed_bytes.v, 8));
  return {_mm512_add_epi32(sum.v, _mm512_add_epi32(even, odd))};
#endif
}
// Lane l's four bytes: byte l of four neighbouring pixels of kWidth bytes, which start at pixel `first` of a row of
// `count`; pixels outside of it are `outside`.
inline VI FourPixels(const uint8_t* row, int64_t first, int64_t count, uint8_t outside) {
  __m512i pixels;
  if (first >= 0 && first + 4 <= count) {
    pixels = _mm512_loadu_si512(row + first * 16);
  } else {
    const int64_t from = first < 0 ? -first : 0, to = count - first < 4 ? count - first : 4;
    const uint32_t inside = from >= to ? 0 : ((1u << 4 * to) - 1) & ~((1u << 4 * from) - 1);
    pixels = _mm512_mask_loadu_epi32(_mm512_set1_epi8(static_cast<char>(outside)), static_cast<__mmask16>(inside),
                                     row + first * 16);
  }
  // Dwords of four channels × four pixels side by side, then bytes within.
  const __m512i dwords = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  return {_mm512_shuffle_epi8(_mm512_permutexvar_epi32(dwords, pixels), bytes)};
}

}  // namespace
}  // namespace npustream::kernels
