#include "dvpp/vpc/resize_kernels.h"

namespace npustream::dvpp {

void BlendRowsScalar(const uint8_t* above, const uint8_t* below, int weight, int count, int16_t* row) {
  for (int i = 0; i < count; ++i) {
    const int step = ((below[i] - above[i]) * 128 * weight + (1 << 14)) >> 15;
    row[i] = static_cast<int16_t>(above[i] * 128 + step);
  }
}

template <int kChannels>
void SampleRowScalar(const int16_t* row, const int32_t* index, const uint32_t* weights, int count, uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int16_t* samples = row + static_cast<ptrdiff_t>(index[i]) * kChannels;
    const int first = static_cast<int>(weights[i] & 0xffff);
    const int second = static_cast<int>(weights[i] >> 16);
    for (int c = 0; c < kChannels; ++c) {
      const int sum = samples[c] * first + samples[c + kChannels] * second;
      *out++ = static_cast<uint8_t>((sum + (1 << 20)) >> 21);
    }
  }
}

template void SampleRowScalar<1>(const int16_t*, const int32_t*, const uint32_t*, int, uint8_t*);
template void SampleRowScalar<2>(const int16_t*, const int32_t*, const uint32_t*, int, uint8_t*);
template void SampleRowScalar<3>(const int16_t*, const int32_t*, const uint32_t*, int, uint8_t*);
template void SampleRowScalar<4>(const int16_t*, const int32_t*, const uint32_t*, int, uint8_t*);

const ResizeKernels& ResizeKernelsFor(Simd simd) {
  static const ResizeKernels scalar = {
      BlendRowsScalar, {SampleRowScalar<1>, SampleRowScalar<2>, SampleRowScalar<3>, SampleRowScalar<4>}};
  switch (simd) {
    case Simd::kAvx512: return kResizeAvx512;
    case Simd::kAvx2: return kResizeAvx2;
    case Simd::kScalar: break;
  }
  return scalar;
}

}  // namespace npustream::dvpp
