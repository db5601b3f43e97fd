// The colour arithmetic of AIPP. Part of a table_*.cpp. Whole numbers up to the clamp, then
// (value − mean − min) · var_reci in single precision: every instruction set gives the same bits.
namespace npustream::kernels {
namespace {

inline int32_t ClampByte(int32_t x) { return x < 0 ? 0 : x > 255 ? 255 : x; }

// `n` pixels (at most 32) given as whole numbers. Plain loops over fixed arrays, which the compiler turns into vectors.
inline void AippPixels(const int32_t (*in)[32], float* const rows[3], size_t x, size_t n, const AippRow& row) {
  for (int c = 0; c < 3; ++c) {
    if (!rows[c]) continue;
    int32_t value[32];
    if (row.csc) {
      const int32_t m0 = row.matrix[c * 3], m1 = row.matrix[c * 3 + 1], m2 = row.matrix[c * 3 + 2];
      const int32_t b0 = row.input_bias[0], b1 = row.input_bias[1], b2 = row.input_bias[2], out = row.output_bias[c];
      for (int i = 0; i < 32; ++i) {
        value[i] = ClampByte(((m0 * (in[0][i] - b0) + m1 * (in[1][i] - b1) + m2 * (in[2][i] - b2)) >> 8) + out);
      }
    } else {
      for (int i = 0; i < 32; ++i) value[i] = in[c][i];
    }
    const float offset = row.offset[c], minimum = row.minimum[c], scale = row.scale[c];
    float* result = rows[c] + x;
    if (n == 32) {
      for (int i = 0; i < 32; ++i) result[i] = (static_cast<float>(value[i]) - offset - minimum) * scale;
    } else {
      for (size_t i = 0; i < n; ++i) result[i] = (static_cast<float>(value[i]) - offset - minimum) * scale;
    }
  }
}

void AippPlanesRow(const uint8_t* const channels[3], float* const rows[3], size_t n, const AippRow& row) {
  int32_t in[3][32] = {};
  for (size_t x = 0; x < n; x += 32) {
    const size_t count = n - x < 32 ? n - x : 32;
    for (int c = 0; c < 3; ++c) {
      for (size_t i = 0; channels[c] && i < count; ++i) in[c][i] = channels[c][x + i];
    }
    AippPixels(in, rows, x, count, row);
  }
}

void AippNv12Row(const uint8_t* luma, const uint8_t* chroma, bool swap_uv, float* const rows[3], size_t n,
                 const AippRow& row) {
  int32_t in[3][32] = {};
  const int u = swap_uv ? 1 : 0;
  for (size_t x = 0; x < n; x += 32) {
    const size_t count = n - x < 32 ? n - x : 32;
    if (count == 32) {
      for (size_t i = 0; i < 32; ++i) in[0][i] = luma[x + i];
      for (size_t i = 0; i < 32; ++i) in[1][i] = chroma[x + (i & ~size_t{1}) + u];
      for (size_t i = 0; i < 32; ++i) in[2][i] = chroma[x + (i & ~size_t{1}) + 1 - u];
    } else {
      for (size_t i = 0; i < count; ++i) {
        in[0][i] = luma[x + i];
        in[1][i] = chroma[x + (i & ~size_t{1}) + u];
        in[2][i] = chroma[x + (i & ~size_t{1}) + 1 - u];
      }
    }
    AippPixels(in, rows, x, count, row);
  }
}

void FillAipp(SimdTable& table) {
  table.aipp_row = AippPlanesRow;
  table.aipp_nv12_row = AippNv12Row;
}

}  // namespace
}  // namespace npustream::kernels
