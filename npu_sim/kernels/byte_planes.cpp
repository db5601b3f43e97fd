#include "npu_sim/kernels/byte_planes.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace npustream::kernels {
namespace {

constexpr size_t kLanes = 16;

__m128i Load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
void Store(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

// Each round turns the eight bits of a byte's address (row, column) round by one; four exchange row and column.
void Transpose(__m128i (&rows)[kLanes]) {
  for (int round = 0; round < 4; ++round) {
    __m128i turned[kLanes];
    for (size_t i = 0; i < kLanes / 2; ++i) {
      turned[2 * i] = _mm_unpacklo_epi8(rows[i], rows[i + kLanes / 2]);
      turned[2 * i + 1] = _mm_unpackhi_epi8(rows[i], rows[i + kLanes / 2]);
    }
    std::copy_n(turned, kLanes, rows);
  }
}

}  // namespace

void JoinFourPlanes(const uint8_t* planes, size_t channels, size_t pixels, uint8_t* to) {
  size_t p = 0;
  for (; p + kLanes <= pixels; p += kLanes) {
    __m128i plane[4];
    for (size_t c = 0; c < 4; ++c) plane[c] = c < channels ? Load(planes + c * pixels + p) : _mm_setzero_si128();
    const __m128i ab[] = {_mm_unpacklo_epi8(plane[0], plane[1]), _mm_unpackhi_epi8(plane[0], plane[1])},
                  cd[] = {_mm_unpacklo_epi8(plane[2], plane[3]), _mm_unpackhi_epi8(plane[2], plane[3])};
    for (size_t half = 0; half < 2; ++half) {
      Store(to + 4 * p + 32 * half, _mm_unpacklo_epi16(ab[half], cd[half]));
      Store(to + 4 * p + 32 * half + 16, _mm_unpackhi_epi16(ab[half], cd[half]));
    }
  }
  for (; p < pixels; ++p) {
    for (size_t c = 0; c < 4; ++c) to[4 * p + c] = c < channels ? planes[c * pixels + p] : uint8_t{0};
  }
}

void JoinFourPlanes(const uint16_t* planes, size_t channels, size_t plane_step, size_t pixels, uint16_t* to) {
  constexpr size_t kAtOnce = kLanes / sizeof(uint16_t);
  size_t p = 0;
  for (; p + kAtOnce <= pixels; p += kAtOnce) {
    __m128i plane[4];
    for (size_t c = 0; c < 4; ++c) plane[c] = c < channels ? Load(planes + c * plane_step + p) : _mm_setzero_si128();
    const __m128i ab[] = {_mm_unpacklo_epi16(plane[0], plane[1]), _mm_unpackhi_epi16(plane[0], plane[1])},
                  cd[] = {_mm_unpacklo_epi16(plane[2], plane[3]), _mm_unpackhi_epi16(plane[2], plane[3])};
    for (size_t half = 0; half < 2; ++half) {
      Store(to + 4 * p + 16 * half, _mm_unpacklo_epi32(ab[half], cd[half]));
      Store(to + 4 * p + 16 * half + 8, _mm_unpackhi_epi32(ab[half], cd[half]));
    }
  }
  for (; p < pixels; ++p) {
    for (size_t c = 0; c < 4; ++c) to[4 * p + c] = c < channels ? planes[c * plane_step + p] : uint16_t{0};
  }
}

void SplitSixteenPlanes(const uint8_t* from, size_t channels, size_t pixels, uint8_t* planes, size_t plane_step) {
  size_t p = 0;
  for (; p + kLanes <= pixels; p += kLanes) {
    __m128i rows[kLanes];
    for (size_t i = 0; i < kLanes; ++i) rows[i] = Load(from + (p + i) * kLanes);
    Transpose(rows);
    for (size_t c = 0; c < channels; ++c) Store(planes + c * plane_step + p, rows[c]);
  }
  for (; p < pixels; ++p) {
    for (size_t c = 0; c < channels; ++c) planes[c * plane_step + p] = from[p * kLanes + c];
  }
}

}  // namespace npustream::kernels
