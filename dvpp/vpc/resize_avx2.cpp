#include <immintrin.h>

#include "dvpp/vpc/resize_kernels.h"

namespace npustream::dvpp {
namespace {

NPUSTREAM_AVX2 void BlendRows(const uint8_t* above, const uint8_t* below, int weight, int count, int16_t* row) {
  const __m256i factor = _mm256_set1_epi16(static_cast<int16_t>(weight));
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i a = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(above + i)));
    const __m256i b = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(below + i)));
    const __m256i step = _mm256_mulhrs_epi16(_mm256_slli_epi16(_mm256_sub_epi16(b, a), 7), factor);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(row + i), _mm256_add_epi16(_mm256_slli_epi16(a, 7), step));
  }
  BlendRowsScalar(above + i, below + i, weight, count - i, row + i);
}

// Sums of products with 21 bits of fraction to whole values.
NPUSTREAM_AVX2 inline __m256i RoundSums(__m256i sums) {
  return _mm256_srai_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(1 << 20)), 21);
}

NPUSTREAM_AVX2 void SampleRow1(const int16_t* row, const int32_t* index, const uint32_t* weights, int count,
                               uint8_t* out) {
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i where = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index + i));
    const __m256i pairs = _mm256_i32gather_epi32(reinterpret_cast<const int*>(row), where, 2);
    const __m256i factors = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + i));
    const __m256i values = RoundSums(_mm256_madd_epi16(pairs, factors));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(words, words));
  }
  SampleRowScalar<1>(row, index + i, weights + i, count - i, out + i);
}

NPUSTREAM_AVX2 void SampleRow2(const int16_t* row, const int32_t* index, const uint32_t* weights, int count,
                               uint8_t* out) {
  // (u0 v0 u1 v1) → (u0 u1 v0 v1)
  const __m256i pair_up = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15,  //
                                           0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m128i where = _mm_loadu_si128(reinterpret_cast<const __m128i*>(index + i));
    const __m256i pairs = _mm256_i32gather_epi64(reinterpret_cast<const long long*>(row), where, 4);
    const __m256i narrow = _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + i)));
    const __m256i factors = _mm256_or_si256(narrow, _mm256_slli_epi64(narrow, 32));
    const __m256i values = RoundSums(_mm256_madd_epi16(_mm256_shuffle_epi8(pairs, pair_up), factors));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 2 * i), _mm_packus_epi16(words, words));
  }
  SampleRowScalar<2>(row, index + i, weights + i, count - i, out + 2 * i);
}

// Two positions of three or four channels at 8 samples each: (a0 b0 c0 [d0] a1 b1 c1 [d1]) → sums of a, b, c, d.
NPUSTREAM_AVX2 inline __m256i SampleTwo(const int16_t* first, const int16_t* second, const uint32_t* weights,
                                        __m256i pair_up) {
  const __m256i samples = _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first))),
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(second)), 1);
  const __m256i factors = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_set1_epi32(static_cast<int>(weights[0]))),
                                                  _mm_set1_epi32(static_cast<int>(weights[1])), 1);
  return RoundSums(_mm256_madd_epi16(_mm256_shuffle_epi8(samples, pair_up), factors));
}

template <int kChannels>
NPUSTREAM_AVX2 inline __m128i SampleFour(const int16_t* row, const int32_t* index, const uint32_t* weights,
                                         __m256i pair_up) {
  const __m256i low = SampleTwo(row + index[0] * kChannels, row + index[1] * kChannels, weights, pair_up);
  const __m256i high = SampleTwo(row + index[2] * kChannels, row + index[3] * kChannels, weights + 2, pair_up);
  // Lanes hold positions (0, 2) and (1, 3); put them in order while packing to bytes.
  const __m256i words = _mm256_packs_epi32(low, high);
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
  return _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
}

NPUSTREAM_AVX2 void SampleRow3(const int16_t* row, const int32_t* index, const uint32_t* weights, int count,
                               uint8_t* out) {
  const __m256i pair_up = _mm256_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1,  //
                                           0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1);
  const __m128i drop_fourth = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  int i = 0;
  // A store writes 16 bytes of which 12 are new; the last positions are left to the scalar twin.
  for (; i + 6 <= count; i += 4) {
    const __m128i bytes = _mm_shuffle_epi8(SampleFour<3>(row, index + i, weights + i, pair_up), drop_fourth);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * i), bytes);
  }
  SampleRowScalar<3>(row, index + i, weights + i, count - i, out + 3 * i);
}

NPUSTREAM_AVX2 void SampleRow4(const int16_t* row, const int32_t* index, const uint32_t* weights, int count,
                               uint8_t* out) {
  const __m256i pair_up = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,  //
                                           0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4 * i), SampleFour<4>(row, index + i, weights + i, pair_up));
  }
  SampleRowScalar<4>(row, index + i, weights + i, count - i, out + 4 * i);
}

}  // namespace

const ResizeKernels kResizeAvx2 = {BlendRows, {SampleRow1, SampleRow2, SampleRow3, SampleRow4}};

}  // namespace npustream::dvpp
