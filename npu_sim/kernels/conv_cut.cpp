#include "npu_sim/kernels/conv_cut.h"

#include <algorithm>

#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {
namespace {

// Weights of a tile's result groups that fit beside the source in the first-level cache.
constexpr int64_t kWeightBytesNear = 24 * 1024;
// Weights of a tile that are used on all pixels of a band before the next source channels follow; the sums wait in the
// result meanwhile.
constexpr int64_t kChunkBytes = 32 * 1024;
// Source rows that are worked on by all result groups before the next ones are fetched: a part of the second level.
// With many weights, which every band fetches again, it may be more of it.
constexpr int64_t kBandBytes = 192 * 1024, kMostBandBytes = 1024 * 1024;

// Result groups of a tile at most. `group_bytes`: weights of one.
int64_t MostTileGroups(const ConvCut& cut, int64_t group_bytes) {
  // Bytes: two groups of many pixels load the least for each product.
  if (cut.depth > 1 || cut.IsPlain()) return 2;
  if (cut.out_groups == 3) return 3;
  return group_bytes * kMaxTileGroups <= kWeightBytesNear ? kMaxTileGroups : 2;
}

}  // namespace

int64_t GroupsOf(int64_t channels, int64_t block) { return (channels + block - 1) / block; }

std::vector<int64_t> EvenParts(int64_t total, int64_t most) {
  const int64_t count = GroupsOf(total, most);
  std::vector<int64_t> parts(static_cast<size_t>(count), total / count);
  for (int64_t i = 0; i < total % count; ++i) ++parts[static_cast<size_t>(i)];
  return parts;
}

ConvCut CutConv(const ConvShape& s, om::Layout source, Isa isa, int64_t depth, bool by_rows) {
  const int64_t element = depth == 1 ? 4 : 1;  // bytes
  ConvCut cut;
  cut.depth = depth;
  cut.block = om::BlockOf(BlockedLayout(isa));
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups;
  cut.in_block = om::BlockOf(source);
  cut.in_groups = GroupsOf(ic, cut.in_block);
  cut.last_lanes = GroupsOf(ic - (cut.in_groups - 1) * cut.in_block, depth) * depth;
  cut.out_groups = GroupsOf(oc, cut.block);
  const int64_t window = s.kh * s.kw;
  cut.tile_groups = EvenParts(cut.out_groups, MostTileGroups(cut, ic * window * cut.block * element));
  const int64_t in_group_bytes = cut.in_block * window * cut.tile_groups[0] * cut.block * element;
  const bool chunks = depth == 1 && !cut.IsPlain();
  cut.chunk_groups = chunks ? std::clamp<int64_t>(kChunkBytes / in_group_bytes, 1, cut.in_groups) : cut.in_groups;
  cut.copies = s.pad_top + s.pad_left + s.pad_bottom + s.pad_right > 0;
  cut.pointwise = s.kh == 1 && s.kw == 1 && !cut.copies && !by_rows;
  cut.subsamples = cut.pointwise && (s.stride_h > 1 || s.stride_w > 1 || s.oh * s.ow != s.ih * s.iw);
  const int64_t band_bytes = std::clamp(cut.Weights(s) * element / 4 / s.groups, kBandBytes, kMostBandBytes);
  cut.padded_w = s.iw + s.pad_left + s.pad_right;
  if (cut.pointwise) {
    const int64_t pixels = s.oh * s.ow;
    cut.band_rows = std::clamp<int64_t>(band_bytes / (ic * element) / kSegmentPixels * kSegmentPixels, kSegmentPixels,
                                        std::max(pixels, kSegmentPixels));
    return cut;
  }
  const int64_t row_bytes = cut.in_groups * cut.in_block * cut.padded_w * element * s.stride_h;
  cut.band_rows = std::clamp<int64_t>(band_bytes / row_bytes, 1, s.oh);
  cut.band_in_rows = (cut.band_rows - 1) * s.stride_h + (s.kh - 1) * s.dilation_h + 1;
  return cut;
}

}  // namespace npustream::kernels
