// Powers with one exponent. Part of a table_*.cpp.
namespace npustream::kernels {
namespace {

constexpr int kPowerStrip = 32;

// 2^(e · log2(x)) in double precision for a strip of positive normal numbers: short loops over arrays, each of which
// the compiler turns into vectors. log2 by the series of the area tangent on [√½, √2], 2^f by Taylor's on [−½, ½].
void PowerStrip(const float* x, float* y, double e) {
  double value[kPowerStrip], k[kPowerStrip], result[kPowerStrip];
  uint64_t bits[kPowerStrip], exponent[kPowerStrip];
  for (int i = 0; i < kPowerStrip; ++i) value[i] = static_cast<double>(x[i]);
  memcpy(bits, value, sizeof(bits));
  for (int i = 0; i < kPowerStrip; ++i) {
    // Subtracting √½'s upper bits first makes the exponent that of the nearest power of two.
    const uint64_t shifted = (bits[i] - 0x3fe6a09e00000000u) >> 52;
    bits[i] -= shifted << 52;
    // The exponent as a double: its low 11 bits, with a bias of 1024, over 2^52.
    exponent[i] = ((shifted + 1024) & 0x7ff) | 0x4330000000000000u;
  }
  memcpy(value, bits, sizeof(bits));
  memcpy(k, exponent, sizeof(exponent));
  const double magic = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number in the low bits
  for (int i = 0; i < kPowerStrip; ++i) {
    const double m = value[i], t = (m - 1) / (m + 1), t2 = t * t;
    // 2 / ln 2 over 13, 11, …, 1
    double log2 = 0.22195308321368668;
    log2 = log2 * t2 + 0.26230818925253882;
    log2 = log2 * t2 + 0.32059889797532522;
    log2 = log2 * t2 + 0.41219858311113242;
    log2 = log2 * t2 + 0.57707801635558535;
    log2 = log2 * t2 + 0.96179669392597562;
    log2 = log2 * t2 + 2.8853900817779268;
    double z = e * (log2 * t + (k[i] - (4503599627370496.0 + 1024)));
    z = z > 1000 ? 1000 : z;
    z = z < -1000 ? -1000 : z;
    const double rounded = z + magic, f = z - (rounded - magic);
    double p = 1.52527338e-5;
    p = p * f + 1.54035304e-4;
    p = p * f + 1.33335581464e-3;
    p = p * f + 9.61812910763e-3;
    p = p * f + 5.550410866482e-2;
    p = p * f + 2.402265069591007e-1;
    p = p * f + 6.931471805599453e-1;
    result[i] = p * f + 1;
    value[i] = rounded;
  }
  memcpy(exponent, value, sizeof(exponent));
  memcpy(bits, result, sizeof(bits));
  for (int i = 0; i < kPowerStrip; ++i) bits[i] += exponent[i] << 52;
  memcpy(result, bits, sizeof(bits));
  for (int i = 0; i < kPowerStrip; ++i) y[i] = static_cast<float>(result[i]);
}

// The exponents of written-out polynomials, for which any base will do.
void Square(const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i] * x[i];
}
void Cube(const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i] * x[i] * x[i];
}

void Power(const float* x, float* y, size_t n, float e) {
  if (e == 2) return Square(x, y, n);
  if (e == 3) return Cube(x, y, n);
  for (size_t at = 0; at < n; at += kPowerStrip) {
    const size_t count = n - at < kPowerStrip ? n - at : kPowerStrip;
    // Everything that is not positive, normal and finite goes through the library.
    bool ordinary = count == kPowerStrip && e > -1e30f && e < 1e30f;
    for (size_t i = 0; i < count; ++i)
      ordinary = ordinary & (x[at + i] >= 1.17549435e-38f) & (x[at + i] <= 3.40282347e38f);
    if (ordinary) {
      PowerStrip(x + at, y + at, static_cast<double>(e));
    } else {
      for (size_t i = 0; i < count; ++i) y[at + i] = powf(x[at + i], e);
    }
  }
}

}  // namespace
}  // namespace npustream::kernels
