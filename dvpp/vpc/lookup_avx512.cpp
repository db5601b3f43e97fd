#include <immintrin.h>

#include "dvpp/vpc/lookup_row.h"

namespace npustream::dvpp {
namespace {

struct TableRegisters {
  __m512i quarter[4];
};

NPUSTREAM_AVX512 inline TableRegisters LoadTable(const LookupTable& table) {
  return {{_mm512_loadu_si512(table.data()), _mm512_loadu_si512(table.data() + 64),
           _mm512_loadu_si512(table.data() + 128), _mm512_loadu_si512(table.data() + 192)}};
}

NPUSTREAM_AVX512 inline __m512i LookUp64(const TableRegisters& table, __m512i values) {
  const __m512i low = _mm512_permutex2var_epi8(table.quarter[0], values, table.quarter[1]);
  const __m512i high = _mm512_permutex2var_epi8(table.quarter[2], values, table.quarter[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(values), low, high);
}

}  // namespace

NPUSTREAM_AVX512 void LookUpRowAvx512(const uint8_t* in, uint8_t* out, int count, const LookupTable* const* tables,
                                      int channels) {
  const TableRegisters even = LoadTable(*tables[0]);
  const TableRegisters odd = LoadTable(*tables[channels - 1]);
  for (int i = 0; i < count; i += 64) {
    const __mmask64 live = count - i >= 64 ? ~0ull : (1ull << (count - i)) - 1;
    const __m512i values = _mm512_maskz_loadu_epi8(live, in + i);
    __m512i result = LookUp64(even, values);
    if (channels == 2) result = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaaull, result, LookUp64(odd, values));
    _mm512_mask_storeu_epi8(out + i, live, result);
  }
}

}  // namespace npustream::dvpp
