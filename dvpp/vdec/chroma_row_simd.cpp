#include <immintrin.h>

#include "dvpp/cpu/simd.h"
#include "dvpp/vdec/chroma_row.h"

namespace npustream::dvpp {

NPUSTREAM_AVX2 void InterleaveRowAvx2(const uint8_t* u, const uint8_t* v, int count, uint8_t* pairs) {
  int i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i us = _mm256_permute4x64_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(u + i)), 0xd8);
    const __m256i vs = _mm256_permute4x64_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(v + i)), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(pairs + 2 * i), _mm256_unpacklo_epi8(us, vs));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(pairs + 2 * i + 32), _mm256_unpackhi_epi8(us, vs));
  }
  InterleaveRow(u + i, v + i, count - i, pairs + 2 * i);
}

NPUSTREAM_AVX512 void InterleaveRowAvx512(const uint8_t* u, const uint8_t* v, int count, uint8_t* pairs) {
  for (int i = 0; i < count; i += 32) {
    const int left = count - i;
    const __mmask32 live = left >= 32 ? ~0u : (1u << left) - 1;
    const __mmask64 live_pairs = left >= 32 ? ~0ull : (1ull << (2 * left)) - 1;
    const __m512i us = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(live, u + i));
    const __m512i vs = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(live, v + i));
    _mm512_mask_storeu_epi8(pairs + 2 * i, live_pairs, _mm512_or_si512(us, _mm512_slli_epi16(vs, 8)));
  }
}

}  // namespace npustream::dvpp
