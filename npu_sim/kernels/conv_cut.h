#pragma once

#include <cstdint>
#include <vector>

#include "npu_sim/kernels/conv_shape.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/native_plan.h"

// How our own convolutions are cut into tiles, bands and chunks.
namespace npustream::kernels {

// Pixels of a pointwise convolution that are done, activation included, before the next ones.
inline constexpr int64_t kSegmentPixels = 56;

// A function of shape, layout and instruction set alone, so that packing and running agree. Counts in elements.
struct ConvCut {
  int64_t depth = 1;                      // source channels that one instruction takes: 1 float, 4 bytes
  int64_t block = 16, in_block = 16;      // in_block == depth: plain source
  int64_t in_groups = 1, last_lanes = 1;  // of one convolution group; last_lanes in whole depths
  int64_t out_groups = 1;                 // of one convolution group
  std::vector<int64_t> tile_groups;       // result groups per tile, summing up to out_groups
  int64_t chunk_groups = 1;               // source groups whose weights are used on a whole band at a time
  bool pointwise = false;                 // 1x1 without padding: pixels are one long row
  bool subsamples = false;  // pointwise with strides: the pixels that count are copied into the scratch buffer
  bool copies = false;      // padding: rows are copied into the scratch buffer with padding around
  int64_t band_rows = 1;    // result rows a band, or pixels when pointwise
  int64_t band_in_rows = 1, padded_w = 1;

  bool IsPlain() const { return in_block == depth; }
  // Weights in packed form, all groups.
  int64_t Weights(const ConvShape& s) const {
    return s.groups * out_groups * block * ((in_groups - 1) * in_block + last_lanes) * s.kh * s.kw;
  }
  // Sums (or biases) of all result channels, the padding ones included.
  int64_t Channels(const ConvShape& s) const { return s.groups * out_groups * block; }
  // Copied source.
  int64_t Scratch(const ConvShape& s) const {
    if (subsamples) return in_groups * in_block * s.oh * s.ow;
    return copies ? in_groups * in_block * band_in_rows * padded_w : 0;
  }
};

// `depth` 1: floats, whose sums may wait in the result between chunks. `depth` 4: bytes, done in one go. With `by_rows`
// no tile reaches from one row of pixels into the next.
ConvCut CutConv(const ConvShape& shape, om::Layout source, Isa isa, int64_t depth, bool by_rows = false);

// A step's copies of its source are addressed with 32 bits. Only dilations and padding far beyond any network's need more.
inline constexpr int64_t kMostScratch = INT32_MAX;

// Groups of `block` that `channels` take.
int64_t GroupsOf(int64_t channels, int64_t block);
// Even parts of at most `most`.
std::vector<int64_t> EvenParts(int64_t total, int64_t most);

// Weights o, i, kh, kw of a convolution as [group][tile][source group][kh][kw][lane/depth][result channel][depth].
template <typename Weight>
void PackDense(const ConvShape& s, const ConvCut& cut, const Weight* plain, Weight* to) {
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups, window = s.kh * s.kw;
  for (int64_t g = 0; g < s.groups; ++g) {
    int64_t first_group = 0;
    for (const int64_t groups : cut.tile_groups) {
      for (int64_t in_group = 0; in_group < cut.in_groups; ++in_group) {
        const int64_t lanes = in_group + 1 < cut.in_groups ? cut.in_block : cut.last_lanes;
        for (int64_t k = 0; k < window; ++k) {
          for (int64_t lane = 0; lane < lanes; lane += cut.depth) {
            for (int64_t o = first_group * cut.block; o < (first_group + groups) * cut.block; ++o) {
              for (int64_t i = in_group * cut.in_block + lane, end = i + cut.depth; i < end; ++i)
                *to++ = o < oc && i < ic ? plain[((g * oc + o) * ic + i) * window + k] : Weight{};
            }
          }
        }
      }
      first_group += groups;
    }
  }
}

}  // namespace npustream::kernels
