#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace npustream::testing_support {

// The nearest bfloat16, ties to even: the upper half of a float's bits.
inline float RoundedToBf16(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

inline std::vector<float> RoundedToBf16(std::vector<float> values) {
  for (float& value : values) value = RoundedToBf16(value);
  return values;
}

}  // namespace npustream::testing_support
