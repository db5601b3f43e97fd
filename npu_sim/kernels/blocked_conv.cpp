#include "npu_sim/kernels/blocked_conv.h"

#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/support.h"

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
// Pixels of a pointwise convolution that are done, activation included, before the next ones.
constexpr int64_t kSegmentPixels = 56;

// How a convolution is cut; a function of shape and block alone, so that packing and running agree.
struct Cut {
  int64_t block = 16, in_block = 16;      // in_block 1: plain source
  int64_t in_groups = 1, last_lanes = 1;  // of one convolution group
  int64_t out_groups = 1;                 // of one convolution group
  std::vector<int64_t> tile_groups;       // result groups per tile, summing up to out_groups
  int64_t chunk_groups = 1;               // source groups whose weights are used on a whole band at a time
  bool pointwise = false;                 // 1x1 without padding: pixels are one long row
  bool subsamples = false;  // pointwise with strides: the pixels that count are copied into the scratch buffer
  bool copies = false;      // padding: rows are copied into the scratch buffer with zeros around
  int64_t band_rows = 1;    // result rows a band, or pixels when pointwise
  int64_t band_in_rows = 1, padded_w = 1;

  // Without the bias, which follows the weights.
  int64_t WeightFloats(const ConvShape& s) const {
    return s.groups * out_groups * block * ((in_groups - 1) * in_block + last_lanes) * s.kh * s.kw;
  }
  int64_t ScratchFloats(const ConvShape& s) const {
    if (subsamples) return in_groups * in_block * s.oh * s.ow;
    return copies ? in_groups * in_block * band_in_rows * padded_w : 0;
  }
};

int64_t GroupsOf(int64_t channels, int64_t block) { return (channels + block - 1) / block; }

// Even parts of at most `most`.
std::vector<int64_t> EvenParts(int64_t total, int64_t most) {
  const int64_t count = GroupsOf(total, most);
  std::vector<int64_t> parts(static_cast<size_t>(count), total / count);
  for (int64_t i = 0; i < total % count; ++i) ++parts[static_cast<size_t>(i)];
  return parts;
}

// A plain source with few channels (a network's input) is read as it is; all others are blocked.
om::Layout SourceLayout(const ConvShape& s, om::Layout now, Isa isa) {
  const om::Layout blocked = BlockedLayout(isa);
  return now == om::Layout::kPlain && s.groups == 1 && s.ic < om::BlockOf(blocked) ? now : blocked;
}

Cut CutOf(const ConvShape& s, om::Layout source, Isa isa) {
  Cut cut;
  cut.block = om::BlockOf(BlockedLayout(isa));
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups;
  cut.in_block = om::BlockOf(source);
  cut.in_groups = GroupsOf(ic, cut.in_block);
  cut.last_lanes = ic - (cut.in_groups - 1) * cut.in_block;
  cut.out_groups = GroupsOf(oc, cut.block);
  const int64_t group_bytes = ic * s.kh * s.kw * cut.block * 4;
  const int64_t most = cut.in_block == 1                                  ? 2
                       : cut.out_groups == 3                              ? 3
                       : group_bytes * kMaxTileGroups <= kWeightBytesNear ? kMaxTileGroups
                                                                          : 2;
  cut.tile_groups = EvenParts(cut.out_groups, most);
  const int64_t in_group_bytes = cut.in_block * s.kh * s.kw * cut.tile_groups[0] * cut.block * 4;
  cut.chunk_groups =
      cut.in_block == 1 ? cut.in_groups : std::clamp<int64_t>(kChunkBytes / in_group_bytes, 1, cut.in_groups);
  cut.copies = s.pad_top + s.pad_left + s.pad_bottom + s.pad_right > 0;
  cut.pointwise = s.kh == 1 && s.kw == 1 && !cut.copies;
  cut.subsamples = cut.pointwise && (s.stride_h > 1 || s.stride_w > 1 || s.oh * s.ow != s.ih * s.iw);
  const int64_t band_bytes = std::clamp(cut.WeightFloats(s) / s.groups, kBandBytes, kMostBandBytes);
  cut.padded_w = s.iw + s.pad_left + s.pad_right;
  if (cut.pointwise) {
    const int64_t pixels = s.oh * s.ow;
    cut.band_rows = std::clamp<int64_t>(band_bytes / (ic * 4) / kSegmentPixels * kSegmentPixels, kSegmentPixels,
                                        std::max(pixels, kSegmentPixels));
    return cut;
  }
  const int64_t row_bytes = cut.in_groups * cut.in_block * cut.padded_w * 4 * s.stride_h;
  cut.band_rows = std::clamp<int64_t>(band_bytes / row_bytes, 1, s.oh);
  cut.band_in_rows = (cut.band_rows - 1) * s.stride_h + (s.kh - 1) * s.dilation_h + 1;
  return cut;
}

const float* Floats(std::span<const std::byte> bytes) { return reinterpret_cast<const float*>(bytes.data()); }

// [convolution group][tile][source group][kh][kw][source lane][result group of the tile][lane]
void PackDense(const ConvShape& s, const Cut& cut, const float* plain, float* to) {
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups, window = s.kh * s.kw;
  for (int64_t g = 0; g < s.groups; ++g) {
    int64_t first_group = 0;
    for (const int64_t groups : cut.tile_groups) {
      for (int64_t in_group = 0; in_group < cut.in_groups; ++in_group) {
        const int64_t lanes = in_group + 1 < cut.in_groups ? cut.in_block : cut.last_lanes;
        for (int64_t k = 0; k < window; ++k) {
          for (int64_t lane = 0; lane < lanes; ++lane) {
            for (int64_t o = first_group * cut.block; o < (first_group + groups) * cut.block; ++o) {
              *to++ = o < oc ? plain[((g * oc + o) * ic + in_group * cut.in_block + lane) * window + k] : 0;
            }
          }
        }
      }
      first_group += groups;
    }
  }
}

// [group of channels][kh][kw][lane]
void PackDepthwise(const ConvShape& s, int64_t block, const float* plain, float* to) {
  const int64_t window = s.kh * s.kw;
  for (int64_t c = 0; c < s.oc; ++c) {
    for (int64_t k = 0; k < window; ++k) to[((c / block) * window + k) * block + c % block] = plain[c * window + k];
  }
}

int64_t BiasFloats(const ConvShape& s, int64_t block) { return GroupsOf(s.oc, block) * block; }

int64_t WeightFloats(const ConvShape& s, const Cut& cut) {
  return s.IsDepthwise() ? BiasFloats(s, cut.block) * s.kh * s.kw : cut.WeightFloats(s);
}

// What both kinds of executor keep.
struct Common {
  ConvShape s;
  Cut cut;
  const SimdTable* simd;
  Activation activation;
  SimdTable::Unary activate = nullptr;
  bool clear_padding = false;
  om::Dims out_dims;
  om::Layout out_layout;

  Common(const ConvShape& shape, const Activation& act, const Problem& problem)
      : s(shape),
        cut(CutOf(shape, problem.inputs[0].layout, problem.isa)),
        simd(&SimdFor(problem.isa)),
        activation(act),
        clear_padding(!KeepsZero(act)),
        out_dims(problem.outputs[0].dims),
        out_layout(problem.outputs[0].layout) {
    if (act.op != UnaryOp::kIdentity) activate = simd->unary[static_cast<int>(act.op)];
  }

  void Activate(float* y, int64_t pixels) const {
    if (activate) activate(y, y, static_cast<size_t>(pixels * cut.block), activation.a, activation.b);
  }
  void Finish(float* y) const {
    if (clear_padding) ClearPadding(y, out_dims, out_layout);
  }
};

class DepthwiseExecutor final : public Executor {
 public:
  DepthwiseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : c_(s, activation, problem) {}

  Status Run(const Arguments& a) override {
    const ConvShape& s = c_.s;
    const int64_t block = c_.cut.block, groups = GroupsOf(s.oc, block);
    const float* residual = s.has_residual ? In<float>(a, 3) : nullptr;
    for (int64_t i = 0; i < s.n * groups; ++i) {
      const int64_t in_at = i * s.ih * s.iw * block, out_at = i * s.oh * s.ow * block, group = i % groups;
      DepthwiseRow row = {};
      row.w = In<float>(a, 1) + group * s.kh * s.kw * block;
      row.bias = In<float>(a, 1) + WeightFloats(s, c_.cut) + group * block;
      row.pixels = s.ow, row.in_w = s.iw, row.kh = s.kh, row.kw = s.kw;
      row.stride_w = s.stride_w, row.dilation_w = s.dilation_w;
      row.x_column = -s.pad_left;
      row.x_kh_stride = s.dilation_h * s.iw * block;
      for (int64_t oh = 0; oh < s.oh; ++oh) {
        const int64_t top = oh * s.stride_h - s.pad_top;
        row.kh_first = std::clamp<int64_t>((-top + s.dilation_h - 1) / s.dilation_h, 0, s.kh);
        row.kh_last = std::clamp<int64_t>((s.ih - top + s.dilation_h - 1) / s.dilation_h, row.kh_first, s.kh);
        row.x = In<float>(a, 0) + in_at + (top * s.iw - s.pad_left) * block;
        row.y = Out<float>(a) + out_at + oh * s.ow * block;
        row.residual = residual ? residual + out_at + oh * s.ow * block : nullptr;
        c_.simd->depthwise_row(row);
        c_.Activate(row.y, s.ow);
      }
    }
    c_.Finish(Out<float>(a));
    return {};
  }

 private:
  Common c_;
};

class DenseExecutor final : public Executor {
 public:
  DenseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem) : c_(s, activation, problem) {
    const int64_t row = c_.cut.pointwise ? kSegmentPixels : s.ow;
    for (const int64_t groups : c_.cut.tile_groups) widths_.push_back(EvenParts(row, MostPixels(groups)));
    if (c_.cut.in_block == 1) FillOffsets();
  }

  Status Run(const Arguments& a) override {
    const ConvShape& s = c_.s;
    const Cut& cut = c_.cut;
    const int64_t in_step = cut.in_groups * cut.in_block * s.ih * s.iw,
                  out_step = cut.out_groups * cut.block * s.oh * s.ow;
    const int64_t weight_step = cut.WeightFloats(s) / s.groups;
    for (int64_t i = 0; i < s.n * s.groups; ++i) {
      const int64_t g = i % s.groups;
      Picture picture = {In<float>(a, 0) + i * in_step, In<float>(a, 1) + g * weight_step,
                         In<float>(a, 1) + cut.WeightFloats(s) + g * cut.out_groups * cut.block,
                         s.has_residual ? In<float>(a, 3) + i * out_step : nullptr, Out<float>(a) + i * out_step};
      if (cut.pointwise) {
        if (cut.subsamples) {
          Subsample(picture.x, reinterpret_cast<float*>(a.scratch));
          picture.x = reinterpret_cast<const float*>(a.scratch);
        }
        RunPointwise(picture);
      } else {
        RunBands(picture, reinterpret_cast<float*>(a.scratch));
      }
    }
    c_.Finish(Out<float>(a));
    return {};
  }

 private:
  struct Picture {
    const float *x, *w, *bias, *residual;
    float* y;
  };

  int64_t MostPixels(int64_t groups) const {
    int64_t most = kMaxTilePixels;
    while (!Functions(groups)[most - 1]) --most;
    return most;
  }

  // Floats from a pixel's row of the source to the next row, and to the next group of channels.
  int64_t RowFloats() const { return (c_.cut.copies ? c_.cut.padded_w : c_.s.iw) * c_.cut.in_block; }
  int64_t GroupFloats() const {
    if (c_.cut.subsamples) return c_.s.oh * c_.s.ow * c_.cut.in_block;
    return RowFloats() * (c_.cut.copies ? c_.cut.band_in_rows : c_.s.ih);
  }

  // Taps of a plain source in the order of the packed weights.
  void FillOffsets() {
    const ConvShape& s = c_.s;
    for (int64_t c = 0; c < s.ic; ++c) {
      for (int64_t kh = 0; kh < s.kh; ++kh) {
        for (int64_t kw = 0; kw < s.kw; ++kw) {
          offsets_.push_back(
              static_cast<int32_t>(c * GroupFloats() + kh * s.dilation_h * RowFloats() + kw * s.dilation_w));
        }
      }
    }
  }

  // Pixels from one of a tile to the next.
  int64_t PixelStep() const { return c_.cut.subsamples ? 1 : c_.s.stride_w; }

  TileSource SourceKind() const {
    const int64_t stride = PixelStep();
    if (c_.cut.in_block == 1)
      return stride == 1 ? TileSource::kPlain1 : stride == 2 ? TileSource::kPlain2 : TileSource::kPlain;
    return stride == 1 ? TileSource::kBlocked1 : stride == 2 ? TileSource::kBlocked2 : TileSource::kBlocked;
  }

  using TileFunction = void (*)(const ConvTile&);
  const TileFunction* Functions(int64_t groups) const {
    return c_.simd->conv[static_cast<int>(SourceKind())][groups - 1];
  }

  ConvTile TileOf(const Picture& p) const {
    ConvTile tile = {};
    tile.lanes = c_.cut.in_block, tile.last_lanes = c_.cut.last_lanes, tile.in_groups = c_.cut.in_groups;
    tile.kh = c_.s.kh, tile.kw = c_.s.kw;
    tile.y_group_stride = c_.s.oh * c_.s.ow * c_.cut.block;
    tile.w = p.w, tile.bias = p.bias;
    tile.offsets = offsets_.data(), tile.taps = static_cast<int64_t>(offsets_.size());
    tile.x_group_stride = GroupFloats();
    tile.x_kh_stride = c_.s.dilation_h * RowFloats();
    tile.x_kw_stride = c_.s.dilation_w * c_.cut.in_block;
    tile.x_pixel_stride = PixelStep() * c_.cut.in_block;
    return tile;
  }

  // One row (or segment) of one tile's result groups; `last` when no further source channels follow, so that the
  // activation's time has come. `tile` has x, y and residual of its start.
  void RunRow(ConvTile tile, int64_t groups, const std::vector<int64_t>& widths, bool last) const {
    const TileFunction* const functions = Functions(groups);
    float* const y = tile.y;
    int64_t pixels = 0;
    for (const int64_t width : widths) {
      functions[width - 1](tile);
      tile.x += width * tile.x_pixel_stride;
      tile.y += width * c_.cut.block;
      if (tile.residual) tile.residual += width * c_.cut.block;
      pixels += width;
    }
    for (int64_t g = 0; last && g < groups; ++g) c_.Activate(y + g * tile.y_group_stride, pixels);
  }

  // Calls `band(tile, groups, t, result group, last)` for every tile of result groups and every chunk of source
  // channels, with weights, bias and source advanced; `x` is the source of the band's first pixel.
  template <typename Band>
  void ForEachChunk(const Picture& p, const float* x, Band band) const {
    const Cut& cut = c_.cut;
    ConvTile tile = TileOf(p);
    int64_t group = 0;
    for (size_t t = 0; t < cut.tile_groups.size(); ++t) {
      const int64_t groups = cut.tile_groups[t], channel_weights = c_.s.kh * c_.s.kw * groups * cut.block;
      for (int64_t first = 0; first < cut.in_groups; first += cut.chunk_groups) {
        const int64_t count = std::min(cut.chunk_groups, cut.in_groups - first);
        const bool last = first + count == cut.in_groups;
        tile.x = x + first * tile.x_group_stride;
        tile.in_groups = count;
        tile.last_lanes = last ? cut.last_lanes : cut.in_block;
        tile.accumulate = first > 0;
        band(tile, groups, t, group, last);
        tile.w += ((count - 1) * cut.in_block + tile.last_lanes) * channel_weights;
      }
      tile.bias += groups * cut.block;
      group += groups;
    }
  }

  // The pixels of the picture as one long row, band by band, segment by segment.
  void RunPointwise(const Picture& p) const {
    const Cut& cut = c_.cut;
    const int64_t pixels = c_.s.oh * c_.s.ow;
    for (int64_t first = 0; first < pixels; first += cut.band_rows) {
      const int64_t end = std::min(pixels, first + cut.band_rows);
      ForEachChunk(p, p.x + first * cut.in_block,
                   [&](ConvTile tile, int64_t groups, size_t t, int64_t group, bool last) {
                     const float* const x = tile.x;
                     for (int64_t at = first; at < end; at += kSegmentPixels) {
                       tile.x = x + (at - first) * cut.in_block;
                       const int64_t out = (group * pixels + at) * cut.block;
                       tile.y = p.y + out;
                       tile.residual = p.residual ? p.residual + out : nullptr;
                       if (end - at >= kSegmentPixels) {
                         RunRow(tile, groups, widths_[t], last);
                       } else {
                         RunRest(tile, groups, end - at, last);
                       }
                     }
                   });
    }
  }

  // A last, shorter segment. (No vector: a run allocates nothing.)
  void RunRest(ConvTile tile, int64_t groups, int64_t pixels, bool last) const {
    const TileFunction* const functions = Functions(groups);
    float* const y = tile.y;
    const int64_t total = pixels;
    for (int64_t parts = GroupsOf(pixels, MostPixels(groups)); parts > 0; --parts) {
      const int64_t width = GroupsOf(pixels, parts);
      functions[width - 1](tile);
      tile.x += width * tile.x_pixel_stride;
      tile.y += width * c_.cut.block;
      if (tile.residual) tile.residual += width * c_.cut.block;
      pixels -= width;
    }
    for (int64_t g = 0; last && g < groups; ++g) c_.Activate(y + g * tile.y_group_stride, total);
  }

  void RunBands(const Picture& p, float* scratch) const {
    const ConvShape& s = c_.s;
    const Cut& cut = c_.cut;
    for (int64_t first = 0; first < s.oh; first += cut.band_rows) {
      const int64_t end = std::min(s.oh, first + cut.band_rows), top = first * s.stride_h - s.pad_top;
      const float* x = p.x + top * s.iw * cut.in_block;
      if (cut.copies) {
        CopyBand(p.x, top, (end - 1 - first) * s.stride_h + (s.kh - 1) * s.dilation_h + 1, scratch);
        x = scratch;
      }
      ForEachChunk(p, x, [&](ConvTile tile, int64_t groups, size_t t, int64_t group, bool last) {
        const float* const start = tile.x;
        for (int64_t oh = first; oh < end; ++oh) {
          tile.x = start + (oh - first) * s.stride_h * RowFloats();
          const int64_t out = ((group * s.oh + oh) * s.ow) * cut.block;
          tile.y = p.y + out;
          tile.residual = p.residual ? p.residual + out : nullptr;
          RunRow(tile, groups, widths_[t], last);
        }
      });
    }
  }

  // The pixels which a strided pointwise convolution reads, close together.
  void Subsample(const float* x, float* to) const {
    const ConvShape& s = c_.s;
    const auto block = static_cast<size_t>(c_.cut.in_block);
    for (int64_t g = 0; g < c_.cut.in_groups; ++g) {
      for (int64_t oh = 0; oh < s.oh; ++oh) {
        const float* row = x + (g * s.ih + oh * s.stride_h) * s.iw * c_.cut.in_block;
        for (int64_t ow = 0; ow < s.ow; ++ow, to += block)
          std::copy_n(row + ow * s.stride_w * c_.cut.in_block, block, to);
      }
    }
  }

  // Source rows [top, top + rows) of every group with zeros where the picture ends.
  void CopyBand(const float* x, int64_t top, int64_t rows, float* to) const {
    const ConvShape& s = c_.s;
    const Cut& cut = c_.cut;
    const int64_t row = cut.padded_w * cut.in_block, left = s.pad_left * cut.in_block, inner = s.iw * cut.in_block;
    for (int64_t g = 0; g < cut.in_groups; ++g) {
      for (int64_t r = 0; r < rows; ++r) {
        float* line = to + (g * cut.band_in_rows + r) * row;
        const int64_t source = top + r;
        if (source < 0 || source >= s.ih) {
          std::fill_n(line, row, 0.0f);
          continue;
        }
        std::fill_n(line, left, 0.0f);
        std::memcpy(line + left, x + (g * s.ih + source) * inner, static_cast<size_t>(inner) * sizeof(float));
        std::fill_n(line + left + inner, row - left - inner, 0.0f);
      }
    }
  }

  Common c_;
  std::vector<int32_t> offsets_;
  std::vector<std::vector<int64_t>> widths_;  // per tile: pixels of the calls that make a row
};

}  // namespace

bool CanBlockedConv(const ConvShape& s, const Problem& problem) {
  const Isa isa = problem.isa;
  if (isa == Isa::kBaseline || (s.has_bias && !problem.inputs[2].is_constant)) return false;
  const int64_t block = om::BlockOf(BlockedLayout(isa));
  // Offsets into a plain source are 32 bits wide.
  if (s.ic * s.ih > INT32_MAX / (s.iw + s.pad_left + s.pad_right)) return false;
  if (s.groups == 1 || s.IsDepthwise()) return true;
  return s.ic / s.groups % block == 0 && s.oc / s.groups % block == 0;
}

Result<Choice> ChooseBlockedConv(const ConvShape& s, const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa);
  const om::Layout source = SourceLayout(s, problem.inputs[0].layout, problem.isa);
  const Cut cut = CutOf(s, source, problem.isa);
  Choice choice =
      PlainChoice(problem, std::string(s.IsDepthwise() ? "depthwise " : "blocked ") + ToString(problem.isa));
  choice.inputs[0] = source;
  choice.outputs[0] = blocked;
  if (s.has_residual) {
    choice.inputs[3] = blocked;
    choice.in_place_input = 3;
  }
  om::Bytes packed(static_cast<size_t>(WeightFloats(s, cut) + BiasFloats(s, cut.block)) * sizeof(float));
  auto* to = reinterpret_cast<float*>(packed.data());
  const float* weights = Floats(problem.inputs[1].constant);
  if (s.IsDepthwise()) {
    PackDepthwise(s, cut.block, weights, to);
  } else {
    PackDense(s, cut, weights, to);
    choice.scratch_bytes = static_cast<size_t>(cut.ScratchFloats(s)) * sizeof(float);
  }
  if (s.has_bias) std::copy_n(Floats(problem.inputs[2].constant), s.oc, to + WeightFloats(s, cut));
  choice.packed[1] = std::move(packed);
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareBlockedConv(const ConvShape& s, const Activation& activation,
                                                     const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa);
  const om::Layout source = problem.inputs[0].layout;
  const bool layouts = SourceLayout(s, source, problem.isa) == source && problem.outputs[0].layout == blocked &&
                       (!s.has_residual || problem.inputs[3].layout == blocked);
  if (!layouts) return Invalid("layouts do not fit");
  const bool depthwise = s.IsDepthwise();
  const Cut cut = CutOf(s, source, problem.isa);
  const auto packed = static_cast<size_t>(WeightFloats(s, cut) + BiasFloats(s, cut.block)) * sizeof(float);
  if (problem.inputs[1].constant.size() != packed) return Invalid("packed weights have another size");
  if (depthwise) return std::unique_ptr<Executor>(std::make_unique<DepthwiseExecutor>(s, activation, problem));
  if (problem.scratch_bytes < static_cast<size_t>(cut.ScratchFloats(s)) * sizeof(float))
    return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<DenseExecutor>(s, activation, problem));
}

}  // namespace npustream::kernels
