#include "dvpp/vdec/chroma.h"

#include <algorithm>
#include <cstring>

#include "dvpp/vdec/chroma_row.h"

namespace npustream::dvpp {

void InterleaveRow(const uint8_t* u, const uint8_t* v, int count, uint8_t* pairs) {
  for (int i = 0; i < count; ++i) {
    pairs[2 * i] = u[i];
    pairs[2 * i + 1] = v[i];
  }
}

namespace {

// The mean of the samples that cover a 2 × 2 block of pixels, rounded half up.
struct BlockMean {
  const PlanarChroma& from;
  int columns, rows;  // of a chroma plane

  uint8_t At(const uint8_t* plane, ptrdiff_t stride, int x, int y) const {
    const int x0 = std::min((2 * x) >> from.shift_x, columns - 1);
    const int x1 = std::min((2 * x + 1) >> from.shift_x, columns - 1);
    const uint8_t* above = plane + std::min((2 * y) >> from.shift_y, rows - 1) * stride;
    const uint8_t* below = plane + std::min((2 * y + 1) >> from.shift_y, rows - 1) * stride;
    return static_cast<uint8_t>((above[x0] + above[x1] + below[x0] + below[x1] + 2) >> 2);
  }
};

void AverageChroma(const PlanarChroma& from, const PlaneView& pairs) {
  const BlockMean mean{from, -(-from.width >> from.shift_x), -(-from.height >> from.shift_y)};
  for (int y = 0; y < pairs.height; ++y) {
    uint8_t* row = pairs.data + y * pairs.stride;
    for (int x = 0; x < pairs.width; ++x) {
      row[2 * x] = mean.At(from.u, from.u_stride, x, y);
      row[2 * x + 1] = mean.At(from.v, from.v_stride, x, y);
    }
  }
}

}  // namespace

void InterleaveChroma(const PlanarChroma& from, const PlaneView& pairs, Simd simd) {
  if (from.u == nullptr) {
    for (int y = 0; y < pairs.height; ++y) std::memset(pairs.data + y * pairs.stride, 128, 2 * pairs.width);
    return;
  }
  if (from.shift_x != 1 || from.shift_y != 1) return AverageChroma(from, pairs);
  const auto interleave = simd == Simd::kAvx512 ? InterleaveRowAvx512
                          : simd == Simd::kAvx2 ? InterleaveRowAvx2
                                                : InterleaveRow;
  for (int y = 0; y < pairs.height; ++y) {
    interleave(from.u + y * from.u_stride, from.v + y * from.v_stride, pairs.width, pairs.data + y * pairs.stride);
  }
}

}  // namespace npustream::dvpp
