#include <immintrin.h>

#include "dvpp/vpc/resize_kernels.h"

namespace npustream::dvpp {
namespace {

NPUSTREAM_AVX512 void BlendRows(const uint8_t* above, const uint8_t* below, int weight, int count, int16_t* row) {
  const __m512i factor = _mm512_set1_epi16(static_cast<int16_t>(weight));
  int i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m512i a = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(above + i)));
    const __m512i b = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(below + i)));
    const __m512i step = _mm512_mulhrs_epi16(_mm512_slli_epi16(_mm512_sub_epi16(b, a), 7), factor);
    _mm512_storeu_si512(row + i, _mm512_add_epi16(_mm512_slli_epi16(a, 7), step));
  }
  BlendRowsScalar(above + i, below + i, weight, count - i, row + i);
}

NPUSTREAM_AVX512 inline __m128i RoundToBytes(__m512i sums) {
  return _mm512_cvtepi32_epi8(_mm512_srai_epi32(_mm512_add_epi32(sums, _mm512_set1_epi32(1 << 20)), 21));
}

NPUSTREAM_AVX512 void SampleRow1(const int16_t* row, const int32_t* index, const uint32_t* weights, int count,
                                 uint8_t* out) {
  for (int i = 0; i < count; i += 16) {
    const __mmask16 live = count - i >= 16 ? 0xffff : static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m512i where = _mm512_maskz_loadu_epi32(live, index + i);
    const __m512i pairs = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), live, where, row, 2);
    const __m512i factors = _mm512_maskz_loadu_epi32(live, weights + i);
    _mm_mask_storeu_epi8(out + i, live, RoundToBytes(_mm512_madd_epi16(pairs, factors)));
  }
}

NPUSTREAM_AVX512 void SampleRow2(const int16_t* row, const int32_t* index, const uint32_t* weights, int count,
                                 uint8_t* out) {
  // (u0 v0 u1 v1) → (u0 u1 v0 v1)
  const __m512i pair_up =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
  for (int i = 0; i < count; i += 8) {
    const int left = count - i;
    const __mmask8 live = left >= 8 ? 0xff : static_cast<__mmask8>((1u << left) - 1);
    const __mmask16 live_bytes = left >= 8 ? 0xffff : static_cast<__mmask16>((1u << (2 * left)) - 1);
    const __m256i where = _mm256_maskz_loadu_epi32(live, index + i);
    const __m512i pairs = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), live, where, row, 4);
    const __m512i narrow = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(live, weights + i));
    const __m512i factors = _mm512_or_si512(narrow, _mm512_slli_epi64(narrow, 32));
    const __m512i sums = _mm512_madd_epi16(_mm512_shuffle_epi8(pairs, pair_up), factors);
    _mm_mask_storeu_epi8(out + 2 * i, live_bytes, RoundToBytes(sums));
  }
}

// Three and four channels are bound by loads, where wider registers gain nothing.
void SampleRow3(const int16_t* row, const int32_t* index, const uint32_t* weights, int count, uint8_t* out) {
  kResizeAvx2.sample_row[2](row, index, weights, count, out);
}
void SampleRow4(const int16_t* row, const int32_t* index, const uint32_t* weights, int count, uint8_t* out) {
  kResizeAvx2.sample_row[3](row, index, weights, count, out);
}

}  // namespace

const ResizeKernels kResizeAvx512 = {BlendRows, {SampleRow1, SampleRow2, SampleRow3, SampleRow4}};

}  // namespace npustream::dvpp
