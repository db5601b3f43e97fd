#pragma once
// A vector of 8 floats in plain C++, for the kernels on blocked bytes on CPUs without AVX2; see README.md in this folder.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace npustream::kernels {
namespace {

struct V {
  float v[8];
};
inline constexpr size_t kWidth = 8;

// A vector whose lane i is function(i).
template <typename Function>
inline V Lanes(Function function) {
  V result;
  for (size_t i = 0; i < kWidth; ++i) result.v[i] = function(i);
  return result;
}
inline V Load(const float* p) {
  return Lanes([&](size_t i) { return p[i]; });
}
inline void Store(float* p, V x) { memcpy(p, x.v, sizeof(x.v)); }
inline V LoadFirst(const float* p, size_t n) {
  return Lanes([&](size_t i) { return i < n ? p[i] : 0.0f; });
}
inline void StoreFirst(float* p, V x, size_t n) {
  for (size_t i = 0; i < n; ++i) p[i] = x.v[i];
}
inline V Set(float x) {
  return Lanes([&](size_t) { return x; });
}
inline V operator+(V a, V b) {
  return Lanes([&](size_t i) { return a.v[i] + b.v[i]; });
}
inline V operator-(V a, V b) {
  return Lanes([&](size_t i) { return a.v[i] - b.v[i]; });
}
inline V operator*(V a, V b) {
  return Lanes([&](size_t i) { return a.v[i] * b.v[i]; });
}
inline V operator/(V a, V b) {
  return Lanes([&](size_t i) { return a.v[i] / b.v[i]; });
}
inline V MulAdd(V a, V b, V c) { return a * b + c; }
inline V MulSub(V a, V b, V c) { return a * b - c; }
inline V NegMulAdd(V a, V b, V c) { return c - a * b; }
inline V Max(V a, V b) {
  return Lanes([&](size_t i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline V Min(V a, V b) {
  return Lanes([&](size_t i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline V Sqrt(V a) {
  return Lanes([&](size_t i) { return std::sqrt(a.v[i]); });
}
inline V Abs(V a) {
  return Lanes([&](size_t i) { return std::fabs(a.v[i]); });
}
inline V RoundEven(V a) {
  return Lanes([&](size_t i) { return std::nearbyint(a.v[i]); });
}
inline V Floor(V a) {
  return Lanes([&](size_t i) { return std::floor(a.v[i]); });
}
inline V Ceil(V a) {
  return Lanes([&](size_t i) { return std::ceil(a.v[i]); });
}
inline V ScaleByPowerOf2(V a, V n) {
  return Lanes([&](size_t i) {
    return std::ldexp(a.v[i], static_cast<int>(n.v[i] > 250 ? 250 : n.v[i] < -250 ? -250 : n.v[i]));
  });
}
inline V Reciprocal(V a) { return Set(1) / a; }
inline V QuickReciprocal(V a) { return Reciprocal(a); }
inline V SelectLess(V a, V b, V then, V otherwise) {
  return Lanes([&](size_t i) { return a.v[i] < b.v[i] ? then.v[i] : otherwise.v[i]; });
}
inline V WithSignOf(V magnitude, V sign) {
  return Lanes([&](size_t i) { return std::copysign(magnitude.v[i], sign.v[i]); });
}
inline V ClampMagnitude(V a, V bound) { return Max(Set(0) - bound, Min(bound, a)); }
inline V LowBitsToExponent(V a) {
  return Lanes([&](size_t i) {
    uint32_t bits;
    memcpy(&bits, &a.v[i], sizeof(bits));
    bits <<= 23;
    float result;
    memcpy(&result, &bits, sizeof(result));
    return result;
  });
}

struct VI {
  int32_t v[8];
};
inline VI LoadInts(const int32_t* p) {
  VI result;
  memcpy(result.v, p, sizeof(result.v));
  return result;
}
inline void StoreInts(int32_t* p, VI x) { memcpy(p, x.v, sizeof(x.v)); }
inline VI ZeroInts() { return {}; }
inline V ToReal(VI x) {
  return Lanes([&](size_t i) { return static_cast<float>(x.v[i]); });
}
inline V LoadBytes(const uint8_t* p) {
  return Lanes([&](size_t i) { return static_cast<float>(p[i]); });
}
inline void StoreBytes(uint8_t* p, V x) {
  for (size_t i = 0; i < kWidth; ++i) p[i] = static_cast<uint8_t>(std::nearbyint(x.v[i]));
}
template <bool kShift, bool kHold>
inline void StoreBytes4(uint8_t* p, V a, V b, V c, V d, int16_t zero, uint8_t low, uint8_t high, int64_t pixels = 4) {
  const V vectors[] = {a, b, c, d};
  for (int64_t i = 0; i < pixels; ++i) {
    const V bytes = RoundEven(vectors[i]) + Set(zero);
    StoreBytes(p + static_cast<size_t>(i) * kWidth, Max(Set(low), Min(Set(high), bytes)));
  }
}
inline VI RepeatQuad(const uint8_t* p) {
  VI result;
  for (int32_t& lane : result.v) memcpy(&lane, p, sizeof(lane));
  return result;
}
inline VI LoadQuads(const int8_t* p) {
  VI result;
  memcpy(result.v, p, sizeof(result.v));
  return result;
}
inline VI Dot4(VI sum, VI unsigned_bytes, VI signed_bytes) {
  uint8_t u[4 * kWidth];
  int8_t s[4 * kWidth];
  memcpy(u, unsigned_bytes.v, sizeof(u));
  memcpy(s, signed_bytes.v, sizeof(s));
  for (size_t i = 0; i < sizeof(u); ++i) sum.v[i / 4] += u[i] * s[i];
  return sum;
}
inline VI FourPixels(const uint8_t* row, int64_t first, int64_t count, uint8_t outside) {
  uint8_t quads[4 * kWidth];
  for (size_t i = 0; i < sizeof(quads); ++i) {
    const int64_t pixel = first + static_cast<int64_t>(i % 4);
    const bool inside = pixel >= 0 && pixel < count;
    quads[i] = inside ? row[pixel * static_cast<int64_t>(kWidth) + static_cast<int64_t>(i / 4)] : outside;
  }
  VI result;
  memcpy(result.v, quads, sizeof(quads));
  return result;
}

}  // namespace
}  // namespace npustream::kernels
