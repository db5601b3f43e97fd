// What AMX's tile instructions compute, in plain C++: for tests on CPUs without them.
#include <cstring>

#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kLanes = 16, kDepth = 64;

void RunBlock(const ByteBlock& b) {
  for (int64_t g = 0; g < b.groups; ++g) {
    for (int64_t p = 0; p < b.pixels; ++p) {
      int32_t* const sums = b.sums + (g * kMostBlockPixels + p) * kLanes;
      std::memcpy(sums, b.bias + g * kLanes, kLanes * sizeof(int32_t));
      for (int64_t step = 0; step < b.steps; ++step) {
        const uint8_t* x = b.x + b.offsets[step] + p * b.x_pitch;
        const int8_t* w = b.w + (step * b.groups + g) * kDepth * kLanes;
        for (int64_t i = 0; i < kDepth * kLanes; ++i) sums[i / 4 % kLanes] += x[i / 4 / kLanes * 4 + i % 4] * w[i];
      }
    }
  }
}

void Nothing() {}

}  // namespace

void FillBlocksEmulated(SimdTable& table) {
  table.byte_block = RunBlock;
  table.begin_blocks = table.end_blocks = Nothing;
}

}  // namespace npustream::kernels
