#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace npustream::om {

// IEEE 754 binary16 → binary32, exact.
inline float FromHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = std::ldexp(static_cast<float>(fraction), -24);
  return sign ? -small : small;
}

// binary32 → binary16, to nearest even; too large becomes infinite.
inline uint16_t ToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00;
  if (magnitude >= 0x47800000u) return sign | 0x7c00;
  if (magnitude < 0x38800000u) return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(std::fabs(value), 24)));
  const uint32_t rounded = magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>(rounded >> 13);
}

inline float FromBFloat16(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }
inline uint16_t ToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace npustream::om
