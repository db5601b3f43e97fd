#include <bit>
#include <cstdint>

#include <acl/acl_base.h>

// IEEE 754: binary32 has 8 exponent bits (bias 127) and 23 of fraction, binary16 has 5 (bias 15) and 10.

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;
  }
}

float aclFloat16ToFloat(aclFloat16 value) {
  const uint32_t sign = uint32_t{value} >> 15 << 31;
  const uint32_t exponent = value >> 10 & 0x1f;
  const uint32_t fraction = value & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);  // infinity, not a number
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // zero and subnormal numbers
  return sign != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<aclFloat16>(sign | 0x7e00);   // not a number
  if (magnitude >= 0x47800000) return static_cast<aclFloat16>(sign | 0x7c00);  // 65536 and more: infinity
  // The binary16 bits with what is cut off below them, so that rounding may carry into the exponent.
  uint32_t kept = 0;
  uint32_t cut_bits = 13;
  if (magnitude >= 0x38800000) {  // 2^-14: a normal number
    kept = magnitude - ((127 - 15) << 23);
  } else {
    if (magnitude < 0x33000000) return static_cast<aclFloat16>(sign);  // below 2^-25: nearer to zero
    kept = (magnitude & 0x7fffff) | 0x800000;
    cut_bits += 113 - (magnitude >> 23);
  }
  const uint32_t half = uint32_t{1} << (cut_bits - 1);
  const uint32_t cut = kept & (2 * half - 1);
  kept >>= cut_bits;
  if (cut > half || (cut == half && (kept & 1) != 0)) ++kept;
  return static_cast<aclFloat16>(sign | kept);
}
