// Moving channels between layouts. Part of a table_*.cpp.
namespace npustream::kernels {
namespace {

// y[c][r] = x[r][c], tile by tile in registers. Rows of y hold `stored` lanes, those from `rows` on zero.
void TransposeInto(const float* x, size_t x_step, size_t rows, size_t columns, float* y, size_t y_step, size_t stored) {
  for (size_t r0 = 0; r0 < stored; r0 += kWidth) {
    const size_t present = rows < r0 ? 0 : rows - r0, lanes = stored - r0;
    for (size_t c0 = 0; c0 < columns; c0 += kWidth) {
      const size_t width = columns - c0;
      V tile[kWidth];
      for (size_t r = 0; r < kWidth; ++r) {
        const float* from = x + (r0 + r) * x_step + c0;
        tile[r] = r >= present ? Set(0) : width >= kWidth ? Load(from) : LoadFirst(from, width);
      }
      TransposeTile(tile);
      for (size_t c = 0; c < kWidth && c < width; ++c) {
        float* to = y + (c0 + c) * y_step + r0;
        lanes >= kWidth ? Store(to, tile[c]) : StoreFirst(to, tile[c], lanes);
      }
    }
  }
}

void Transpose(const float* x, size_t x_step, size_t rows, size_t columns, float* y, size_t y_step) {
  TransposeInto(x, x_step, rows, columns, y, y_step, rows);
}

void ToBlocked(const float* planes, float* blocked, size_t channels, size_t pixels, size_t block) {
  for (size_t c = 0; c < channels; c += block) {
    const size_t lanes = channels - c < block ? channels - c : block;
    TransposeInto(planes + c * pixels, pixels, lanes, pixels, blocked + c * pixels, block, block);
  }
}

void FromBlocked(const float* blocked, float* planes, size_t channels, size_t pixels, size_t block) {
  for (size_t c = 0; c < channels; c += block) {
    const size_t lanes = channels - c < block ? channels - c : block;
    Transpose(blocked + c * pixels, block, pixels, lanes, planes + c * pixels, pixels);
  }
}

void GatherLanesPlain(const LaneSource* sources, size_t count, float* result, size_t pixels, size_t block) {
  for (size_t p = 0; p < pixels; ++p) {
    float* lanes = result + p * block;
    for (size_t l = 0; l < block; ++l) lanes[l] = 0;
    for (size_t s = 0; s < count; ++s) {
      const float* from = sources[s].group + p * block;
      for (size_t l = 0; l < block; ++l) {
        if (sources[s].mask >> l & 1) lanes[l] = from[sources[s].lanes[l]];
      }
    }
  }
}

#if defined(__AVX512F__)
void GatherLanes(const LaneSource* sources, size_t count, float* result, size_t pixels, size_t block) {
  if (block != 16) return GatherLanesPlain(sources, count, result, pixels, block);
  if (count == 2) {
    // Two sources, the usual case of a channel shuffle: one permutation of both.
    int32_t lanes[16];
    for (int l = 0; l < 16; ++l) lanes[l] = sources[1].mask >> l & 1 ? sources[1].lanes[l] + 16 : sources[0].lanes[l];
    const __m512i index = _mm512_loadu_si512(lanes);
    const __mmask16 used = static_cast<__mmask16>(sources[0].mask | sources[1].mask);
    for (size_t p = 0; p < pixels; ++p) {
      const __m512 a = _mm512_loadu_ps(sources[0].group + p * 16), b = _mm512_loadu_ps(sources[1].group + p * 16);
      _mm512_storeu_ps(result + p * 16, _mm512_maskz_permutex2var_ps(used, a, index, b));
    }
    return;
  }
  for (size_t p = 0; p < pixels; ++p) {
    __m512 sum = _mm512_setzero_ps();
    for (size_t s = 0; s < count; ++s) {
      const __m512i index = _mm512_loadu_si512(sources[s].lanes);
      sum = _mm512_mask_permutexvar_ps(sum, static_cast<__mmask16>(sources[s].mask), index,
                                       _mm512_loadu_ps(sources[s].group + p * 16));
    }
    _mm512_storeu_ps(result + p * 16, sum);
  }
}
#elif defined(__AVX2__)
void GatherLanes(const LaneSource* sources, size_t count, float* result, size_t pixels, size_t block) {
  if (block != 8) return GatherLanesPlain(sources, count, result, pixels, block);
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (size_t p = 0; p < pixels; ++p) {
    __m256 sum = _mm256_setzero_ps();
    for (size_t s = 0; s < count; ++s) {
      const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sources[s].lanes));
      const __m256i mask =
          _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(sources[s].mask)), bits), bits);
      const __m256 moved = _mm256_permutevar8x32_ps(_mm256_loadu_ps(sources[s].group + p * 8), index);
      sum = _mm256_blendv_ps(sum, moved, _mm256_castsi256_ps(mask));
    }
    _mm256_storeu_ps(result + p * 8, sum);
  }
}
#else
void GatherLanes(const LaneSource* sources, size_t count, float* result, size_t pixels, size_t block) {
  GatherLanesPlain(sources, count, result, pixels, block);
}
#endif

void FillLayout(SimdTable& table) {
  table.transpose = Transpose;
  table.to_blocked = ToBlocked;
  table.from_blocked = FromBlocked;
  table.gather_lanes = GatherLanes;
}

}  // namespace
}  // namespace npustream::kernels
