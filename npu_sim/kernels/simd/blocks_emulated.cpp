// What AMX's tile instructions compute, in plain C++: for tests on CPUs without them.
#include <bit>
#include <cstring>

#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kLanes = 16, kDepth = 64;

// The product sum of four bytes of a pixel and of a result channel.
int32_t Product(const std::byte* x, const std::byte* w, int32_t sum) {
  for (int64_t i = 0; i < 4; ++i) sum += std::to_integer<int>(x[i]) * static_cast<int8_t>(w[i]);
  return sum;
}
// The same of two bfloat16.
float Product(const std::byte* x, const std::byte* w, float sum) {
  for (int64_t i = 0; i < 4; i += 2) {
    uint16_t left, right;
    std::memcpy(&left, x + i, sizeof(left));
    std::memcpy(&right, w + i, sizeof(right));
    sum += std::bit_cast<float>(uint32_t{left} << 16) * std::bit_cast<float>(uint32_t{right} << 16);
  }
  return sum;
}

template <typename Sum>
void RunBlock(const Block<Sum>& b) {
  for (int64_t g = 0; g < b.groups; ++g) {
    for (int64_t p = 0; p < b.pixels; ++p) {
      Sum* const sums = b.sums + (g * kMostBlockPixels + p) * kLanes;
      std::memcpy(sums, b.bias + g * kLanes, kLanes * sizeof(Sum));
      for (int64_t step = 0; step < b.steps; ++step) {
        const std::byte* x = b.x + b.offsets[step] + p * b.x_pitch;
        const std::byte* w = b.w + (step * b.groups + g) * kDepth * kLanes;
        for (int64_t i = 0; i < kDepth / 4 * kLanes; ++i)
          sums[i % kLanes] = Product(x + i / kLanes * 4, w + i * 4, sums[i % kLanes]);
      }
    }
  }
}

void Nothing() {}

}  // namespace

void FillBlocksEmulated(SimdTable& table) {
  table.byte_block = RunBlock<int32_t>;
  table.bf16_block = RunBlock<float>;
  table.begin_blocks = table.end_blocks = Nothing;
}

}  // namespace npustream::kernels
