#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "npu_sim/kernels/conv_cut.h"
#include "npu_sim/kernels/simd/simd.h"

// The walk over a dense convolution's tiles, for floats and bytes alike.
namespace npustream::kernels {

// One image and convolution group. Results are addressed in elements from the start of the group's result.
template <typename TileType>
struct ConvPicture;
template <typename Source, typename Weight, typename Sum>
struct ConvPicture<Tile<Source, Weight, Sum>> {
  const Source* x;
  const Weight* w;
  const Sum* bias;
};

// `Tiles` is one of the tables of tile functions in SimdTable.
//
// A sink takes the sums. It has
//   Sum* Target(int64_t at, int64_t width), int64_t GroupStride(int64_t width), const Sum* Residual(int64_t at)
//     for a tile of `width` pixels whose first pixel's first result channel is element `at` of the result,
//   int64_t PixelStride()
//     where the pixels of a row do not lie side by side, and
//   void EndTile(int64_t at, int64_t group, int64_t groups, int64_t width, const Sum* sums)
//   void EndRow(int64_t at, int64_t group, int64_t groups, int64_t width)
//     which are called once a tile's (a row's) sums are complete; `group` is the first result group.
template <typename Source, typename Weight, typename Sum>
class ConvDriver {
 public:
  using TileType = Tile<Source, Weight, Sum>;
  using TileFunction = void (*)(const TileType&);
  using TileTable = TileFunction[static_cast<int>(TileSource::kCount)][kMaxTileGroups][kMaxTilePixels];
  using Picture = ConvPicture<TileType>;

  ConvDriver(const ConvShape& s, ConvCut cut, const TileTable& tiles, Source padding)
      : s_(s), cut_(std::move(cut)), tiles_(&tiles), padding_(padding) {
    const int64_t row = cut_.pointwise ? kSegmentPixels : s.ow;
    for (const int64_t groups : cut_.tile_groups) widths_.push_back(TileWidths(row, MostPixels(groups)));
    if (cut_.IsPlain()) FillOffsets();
  }

  const ConvCut& cut() const { return cut_; }

  // `scratch` takes ConvCut::Scratch elements.
  template <typename Sink>
  void Run(Picture picture, Source* scratch, Sink& sink) const {
    if (!cut_.pointwise) return RunBands(picture, scratch, sink);
    if (cut_.subsamples) {
      Subsample(picture.x, scratch);
      picture.x = scratch;
    }
    RunPointwise(picture, sink);
  }

 private:
  int64_t MostPixels(int64_t groups) const {
    int64_t most = kMaxTilePixels;
    while (!Functions(groups)[most - 1]) --most;
    return most;
  }

  // Sums of bytes become results four pixels at a time.
  std::vector<int64_t> TileWidths(int64_t row, int64_t most) const {
    if (cut_.depth == 1 || row <= most || row % 4 != 0 || most < 4) return EvenParts(row, most);
    std::vector<int64_t> widths = EvenParts(row / 4, most / 4);
    for (int64_t& width : widths) width *= 4;
    return widths;
  }

  // Elements from a pixel's row of the source to the next row, and to the next group of channels.
  int64_t RowElements() const { return (cut_.copies ? cut_.padded_w : s_.iw) * cut_.in_block; }
  int64_t GroupElements() const {
    if (cut_.subsamples) return s_.oh * s_.ow * cut_.in_block;
    return RowElements() * (cut_.copies ? cut_.band_in_rows : s_.ih);
  }

  // Taps of a plain source in the order of the packed weights.
  void FillOffsets() {
    for (int64_t group = 0; group < cut_.in_groups; ++group) {
      for (int64_t kh = 0; kh < s_.kh; ++kh) {
        for (int64_t kw = 0; kw < s_.kw; ++kw) {
          offsets_.push_back(static_cast<int32_t>(group * GroupElements() + kh * s_.dilation_h * RowElements() +
                                                  kw * s_.dilation_w * cut_.in_block));
        }
      }
    }
  }

  // Pixels from one of a tile to the next.
  int64_t PixelStep() const { return cut_.subsamples ? 1 : s_.stride_w; }

  TileSource SourceKind() const {
    const int64_t stride = PixelStep();
    if (cut_.IsPlain())
      return stride == 1 ? TileSource::kPlain1 : stride == 2 ? TileSource::kPlain2 : TileSource::kPlain;
    return stride == 1 ? TileSource::kBlocked1 : stride == 2 ? TileSource::kBlocked2 : TileSource::kBlocked;
  }

  const TileFunction* Functions(int64_t groups) const {
    return (*tiles_)[static_cast<int>(SourceKind())][groups - 1];
  }

  TileType TileOf(const Picture& p) const {
    TileType tile = {};
    tile.lanes = cut_.in_block, tile.last_lanes = cut_.last_lanes, tile.in_groups = cut_.in_groups;
    tile.kh = s_.kh, tile.kw = s_.kw;
    tile.w = p.w, tile.bias = p.bias;
    tile.offsets = offsets_.data(), tile.taps = static_cast<int64_t>(offsets_.size());
    tile.x_group_stride = GroupElements();
    tile.x_kh_stride = s_.dilation_h * RowElements();
    tile.x_kw_stride = s_.dilation_w * cut_.in_block;
    tile.x_pixel_stride = PixelStep() * cut_.in_block;
    tile.y_pixel_stride = cut_.block;
    return tile;
  }

  // Result groups that belong together, while the walk is at some source channels.
  struct Part {
    TileType tile;
    int64_t group, groups;              // first result group, how many
    const std::vector<int64_t>* widths;  // of a whole row's tiles
    bool last;                          // no further source channels follow
  };

  // One tile; `part.tile.x` is its source.
  template <typename Sink>
  void RunTile(Part& part, int64_t at, int64_t width, Sink& sink) const {
    TileType& tile = part.tile;
    tile.y = sink.Target(at, width);
    tile.y_group_stride = sink.GroupStride(width);
    if constexpr (requires { sink.PixelStride(); }) tile.y_pixel_stride = sink.PixelStride();
    tile.residual = sink.Residual(at);
    Functions(part.groups)[width - 1](tile);
    if (part.last) sink.EndTile(at, part.group, part.groups, width, tile.y);
  }

  // One row (or segment) whose first pixel is element `at` of the result.
  template <typename Sink>
  void RunRow(Part part, int64_t at, Sink& sink) const {
    int64_t pixels = 0;
    for (const int64_t width : *part.widths) {
      RunTile(part, at + pixels * cut_.block, width, sink);
      part.tile.x += width * part.tile.x_pixel_stride;
      pixels += width;
    }
    if (part.last) sink.EndRow(at, part.group, part.groups, pixels);
  }

  // A last, shorter segment. (No vector: a run allocates nothing.)
  template <typename Sink>
  void RunRest(Part part, int64_t at, int64_t pixels, Sink& sink) const {
    const int64_t total = pixels, most = MostPixels(part.groups);
    int64_t done = 0;
    for (int64_t parts = GroupsOf(pixels, most); parts > 0; --parts) {
      const int64_t width = GroupsOf(total - done, parts);
      RunTile(part, at + done * cut_.block, width, sink);
      part.tile.x += width * part.tile.x_pixel_stride;
      done += width;
    }
    if (part.last) sink.EndRow(at, part.group, part.groups, total);
  }

  // Calls `band(part)` for every tile of result groups and every chunk of source channels, with weights, bias and
  // source advanced; `x` is the source of the band's first pixel.
  template <typename Band>
  void ForEachPart(const Picture& p, const Source* x, Band band) const {
    Part part = {};
    part.tile = TileOf(p);
    TileType& tile = part.tile;
    for (size_t t = 0; t < cut_.tile_groups.size(); ++t) {
      part.groups = cut_.tile_groups[t];
      part.widths = &widths_[t];
      const int64_t channel_weights = s_.kh * s_.kw * part.groups * cut_.block;
      for (int64_t first = 0; first < cut_.in_groups; first += cut_.chunk_groups) {
        const int64_t count = std::min(cut_.chunk_groups, cut_.in_groups - first);
        part.last = first + count == cut_.in_groups;
        tile.x = x + first * tile.x_group_stride;
        tile.in_groups = count;
        tile.last_lanes = part.last ? cut_.last_lanes : cut_.in_block;
        tile.accumulate = first > 0;
        band(part);
        tile.w += ((count - 1) * cut_.in_block + tile.last_lanes) * channel_weights;
      }
      tile.bias += part.groups * cut_.block;
      part.group += part.groups;
    }
  }

  // The pixels of the picture as one long row, band by band, segment by segment.
  template <typename Sink>
  void RunPointwise(const Picture& p, Sink& sink) const {
    const int64_t pixels = s_.oh * s_.ow;
    for (int64_t first = 0; first < pixels; first += cut_.band_rows) {
      const int64_t end = std::min(pixels, first + cut_.band_rows);
      ForEachPart(p, p.x + first * cut_.in_block, [&](Part part) {
        const Source* const x = part.tile.x;
        for (int64_t pixel = first; pixel < end; pixel += kSegmentPixels) {
          part.tile.x = x + (pixel - first) * cut_.in_block;
          const int64_t at = (part.group * pixels + pixel) * cut_.block;
          if (end - pixel >= kSegmentPixels) {
            RunRow(part, at, sink);
          } else {
            RunRest(part, at, end - pixel, sink);
          }
        }
      });
    }
  }

  template <typename Sink>
  void RunBands(const Picture& p, Source* scratch, Sink& sink) const {
    for (int64_t first = 0; first < s_.oh; first += cut_.band_rows) {
      const int64_t end = std::min(s_.oh, first + cut_.band_rows), top = first * s_.stride_h - s_.pad_top;
      const Source* x = p.x + top * s_.iw * cut_.in_block;
      if (cut_.copies) {
        CopyBand(p.x, top, (end - 1 - first) * s_.stride_h + (s_.kh - 1) * s_.dilation_h + 1, scratch);
        x = scratch;
      }
      ForEachPart(p, x, [&](Part part) {
        const Source* const start = part.tile.x;
        for (int64_t oh = first; oh < end; ++oh) {
          part.tile.x = start + (oh - first) * s_.stride_h * RowElements();
          RunRow(part, (part.group * s_.oh + oh) * s_.ow * cut_.block, sink);
        }
      });
    }
  }

  // The pixels which a strided pointwise convolution reads, close together.
  void Subsample(const Source* x, Source* to) const {
    const auto block = static_cast<size_t>(cut_.in_block);
    for (int64_t g = 0; g < cut_.in_groups; ++g) {
      for (int64_t oh = 0; oh < s_.oh; ++oh) {
        const Source* row = x + (g * s_.ih + oh * s_.stride_h) * s_.iw * cut_.in_block;
        for (int64_t ow = 0; ow < s_.ow; ++ow, to += block)
          std::copy_n(row + ow * s_.stride_w * cut_.in_block, block, to);
      }
    }
  }

  // Source rows [top, top + rows) of every group with padding where the picture ends.
  void CopyBand(const Source* x, int64_t top, int64_t rows, Source* to) const {
    const int64_t row = cut_.padded_w * cut_.in_block, left = s_.pad_left * cut_.in_block,
                  inner = s_.iw * cut_.in_block;
    for (int64_t g = 0; g < cut_.in_groups; ++g) {
      for (int64_t r = 0; r < rows; ++r) {
        Source* line = to + (g * cut_.band_in_rows + r) * row;
        const int64_t source = top + r;
        if (source < 0 || source >= s_.ih) {
          std::fill_n(line, row, padding_);
          continue;
        }
        std::fill_n(line, left, padding_);
        std::memcpy(line + left, x + (g * s_.ih + source) * inner, static_cast<size_t>(inner) * sizeof(Source));
        std::fill_n(line + left + inner, row - left - inner, padding_);
      }
    }
  }

  ConvShape s_;
  ConvCut cut_;
  const TileTable* tiles_;
  Source padding_;
  std::vector<int32_t> offsets_;
  std::vector<std::vector<int64_t>> widths_;  // per tile: pixels of the calls that make a row
};

}  // namespace npustream::kernels
