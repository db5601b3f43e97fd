#include "npu_sim/kernels/amx_product.h"

#include <algorithm>
#include <cstring>

#include "npu_sim/om/float16.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kLanes = 16, kDepth = 32;  // columns of a group, elements of a step
constexpr int64_t kGroupBytes = kLanes * kDepth * 2;
constexpr int64_t kSums = 2 * kMostBlockPixels * kLanes;
// Rows that are gathered stay in the second-level cache while all columns pass over them.
constexpr int64_t kBandBytes = 512 * 1024;
constexpr float kNoBias[2 * kLanes] = {};

}  // namespace

AmxProduct::AmxProduct(const SimdTable& simd, int64_t depth, int64_t columns)
    : simd_(simd), depth_(depth), columns_(columns), groups_((columns + kLanes - 1) / kLanes) {
  for (int64_t first = 0; first < depth; first += kDepth) offsets_.push_back(static_cast<int32_t>(first * 2));
}

size_t AmxProduct::PackedBytes() const {
  return static_cast<size_t>(groups_ * kGroupBytes) * offsets_.size();
}

int64_t AmxProduct::BandRows(int64_t rows) const {
  return std::min(rows, std::max(kBandBytes / Pitch() / kMostBlockPixels, int64_t{1}) * kMostBlockPixels);
}

// With room for what the last block reads beyond the band.
size_t AmxProduct::ScratchBytes(int64_t rows) const {
  return kSums * sizeof(float) + static_cast<size_t>((BandRows(rows) + kMostBlockPixels) * Pitch());
}

// [pair of groups][step][group][pair of elements][lane][2]
void AmxProduct::Pack(const float* plain, int64_t row_stride, int64_t column_stride, std::byte* packed) const {
  for (int64_t pair = 0; pair < groups_; pair += 2) {
    for (int64_t first = 0; first < depth_; first += kDepth) {
      for (int64_t group = pair; group < std::min(pair + 2, groups_); ++group) {
        for (int64_t place = 0; place < kLanes * kDepth; ++place, packed += sizeof(uint16_t)) {
          const int64_t n = group * kLanes + place / 2 % kLanes, k = first + place / 2 / kLanes * 2 + place % 2;
          const float value = n < columns_ && k < depth_ ? plain[k * row_stride + n * column_stride] : 0;
          const uint16_t rounded = om::ToBFloat16(value);
          std::memcpy(packed, &rounded, sizeof(rounded));
        }
      }
    }
  }
}

void AmxProduct::Gather(const float* x, int64_t x_stride, int64_t rows, std::byte* to) const {
  const int64_t whole = depth_ / kLanes * kLanes, rest = depth_ - whole;
  for (int64_t r = 0; r < rows; ++r, x += x_stride, to += Pitch()) {
    auto* const row = reinterpret_cast<uint16_t*>(to);
    simd_.to_bf16(x, kLanes, row, kLanes, whole / kLanes, kLanes);
    if (rest > 0) simd_.to_bf16(x + whole, rest, row + whole, rest, 1, rest);
    std::fill_n(row + depth_, Pitch() / 2 - depth_, uint16_t{0});
  }
}

void AmxProduct::Run(const float* x, int64_t x_stride, int64_t rows, const std::byte* packed, std::byte* scratch,
                     float* y, int64_t y_stride) const {
  auto* const sums = reinterpret_cast<float*>(scratch);
  std::byte* const gathered = scratch + kSums * sizeof(float);
  Bf16Block block = {};
  block.x_pitch = Pitch();
  block.offsets = offsets_.data(), block.steps = static_cast<int64_t>(offsets_.size());
  block.bias = kNoBias, block.sums = sums;
  const int64_t band = BandRows(rows);
  simd_.begin_blocks();
  for (int64_t first = 0; first < rows; first += band) {
    const int64_t end = std::min(rows, first + band);
    Gather(x + first * x_stride, x_stride, end - first, gathered);
    block.w = packed;
    for (int64_t group = 0; group < groups_; group += block.groups) {
      block.groups = std::min<int64_t>(2, groups_ - group);
      for (int64_t row = first; row < end; row += kMostBlockPixels) {
        block.x = gathered + (row - first) * Pitch();
        block.pixels = std::min(kMostBlockPixels, end - row);
        simd_.bf16_block(block);
        for (int64_t g = 0; g < block.groups; ++g) {
          const int64_t n = (group + g) * kLanes, count = std::min(kLanes, columns_ - n);
          for (int64_t r = 0; r < block.pixels; ++r)
            std::copy_n(sums + (g * kMostBlockPixels + r) * kLanes, count, y + (row + r) * y_stride + n);
        }
      }
      block.w += block.groups * block.steps * kGroupBytes;
    }
  }
  simd_.end_blocks();
}

}  // namespace npustream::kernels
