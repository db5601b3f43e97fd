#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "npu_sim/kernels/conv_cut.h"
#include "npu_sim/kernels/simd/simd.h"

// Dense convolutions on AMX's tiles: 16 pixels × 64 bytes of source channels times as many weights for each of 16 result
// channels an instruction; of bytes, or of bfloat16, which floats become on their way. See README.md.
namespace npustream::kernels {

// How such a convolution is cut: a function of the shape and the source's layout. The source is gathered band by band into
// planes in which every tap of every result pixel is found a fixed way from the pixel's own place:
// [chunk of channels][phase of rows][row][column][channel], where a phase holds every stride-th row of the source with its
// padding, and a row as many pixels for a result pixel as the stride has.
struct AmxCut {
  static constexpr int64_t kBlock = 16;  // result channels of a tile
  static constexpr int64_t kDepth = 64;  // source bytes that one instruction takes of a pixel

  int64_t element;                // bytes of a gathered channel: 1, or 2 for bfloat16
  int64_t in_block;               // channels of a group in the source: 16, or 4 or 1 for pictures
  int64_t in_groups, out_groups;  // groups of channels of one convolution group
  int64_t channels;               // of a chunk: 4, 16, 32 or 64
  int64_t chunks;
  int64_t step_taps;              // neighbouring taps of a kernel row that one instruction takes
  int64_t row_steps;              // instructions for a kernel row
  std::vector<int64_t> row_phases;  // those that taps use
  int64_t column_step;            // source columns from one that is gathered to the next: taps that nobody asks for are left out
  int64_t column_stride;          // gathered pixels from one result pixel's to the next one's
  int64_t columns;                // result pixels that a gathered row has room for
  int64_t band_rows;              // result rows that are gathered at a time
  int64_t plane_rows;             // for a band

  AmxCut(const ConvShape& s, om::Layout source, int64_t element_bytes);

  // Bytes from one result pixel's source to the next one's.
  int64_t Pitch() const { return column_stride * channels * element; }

  int64_t Steps(const ConvShape& s) const { return chunks * s.kh * row_steps; }
  int64_t RowBytes() const { return columns * Pitch(); }
  int64_t PlaneBytes() const { return plane_rows * RowBytes(); }
  int64_t ChunkBytes() const { return PlaneBytes() * static_cast<int64_t>(row_phases.size()); }
  // Bytes of the packed weights, all convolution groups.
  int64_t Weights(const ConvShape& s) const { return s.groups * out_groups * kBlock * kDepth * Steps(s); }
  int64_t Channels(const ConvShape& s) const { return s.groups * out_groups * kBlock; }
  // The gathered band, with room for what the last tile reads beyond it.
  int64_t Scratch() const { return chunks * ChunkBytes() + kMostBlockPixels * Pitch() + kDepth; }
};

// Weights o, i, kh, kw as [convolution group][pair of result groups][chunk][kh][step][result group][depth in 4 bytes]
// [result channel][4 bytes].
void PackAmx(const ConvShape& s, const AmxCut& cut, const int8_t* plain, int8_t* to);
// To bfloat16, to nearest even.
void PackAmx(const ConvShape& s, const AmxCut& cut, const float* plain, uint16_t* to);

// The walk over the tiles; the same interface as ConvDriver's.
template <typename Source, typename Sum>
class AmxDriver {
 public:
  struct Picture {
    const Source* x;
    const std::byte* w;
    const Sum* bias;
  };
  using BlockFunction = void (*)(const Block<Sum>&);

  AmxDriver(const ConvShape& s, om::Layout source, const SimdTable& simd, BlockFunction block, Source padding);

  const AmxCut& cut() const { return cut_; }

  // `sums` takes 2 · kMostBlockPixels · 16 integers, `scratch` AmxCut::Scratch bytes.
  template <typename Sink>
  void Run(const Picture& picture, Sum* sums, std::byte* scratch, Sink& sink) const {
    simd_->begin_blocks();
    for (int64_t first = 0; first < s_.oh; first += cut_.band_rows) {
      const int64_t rows = std::min(cut_.band_rows, s_.oh - first);
      Gather(picture.x, first, rows, scratch);
      RunBand(picture, first, rows, sums, scratch, sink);
    }
    simd_->end_blocks();
  }

 private:
  using Gathered = std::conditional_t<std::is_same_v<Source, uint8_t>, uint8_t, uint16_t>;

  void Gather(const Source* x, int64_t first, int64_t rows, std::byte* to) const;
  void GatherRow(const Source* x, int64_t group, int64_t groups, int64_t row, Gathered* to) const;
  void Copy(const Source* from, int64_t step, Gathered* to, int64_t pixels) const;
  void CopyPicture(const float* from, int64_t plane_step, int64_t planes, uint16_t* to, int64_t pixels) const;

  template <typename Sink>
  void RunBand(const Picture& picture, int64_t first, int64_t rows, Sum* sums, const std::byte* scratch,
               Sink& sink) const {
    Block<Sum> block = {};
    block.offsets = offsets_.data(), block.steps = static_cast<int64_t>(offsets_.size());
    block.x_pitch = cut_.Pitch(), block.w = picture.w, block.sums = sums;
    // Where a row ends its columns go on to the next one; what is computed there is left out.
    const int64_t places = (rows - 1) * cut_.columns + s_.ow;
    for (int64_t group = 0; group < cut_.out_groups; group += block.groups) {
      block.groups = std::min<int64_t>(2, cut_.out_groups - group);
      block.bias = picture.bias + group * AmxCut::kBlock;
      for (int64_t place = 0; place < places; place += kMostBlockPixels) {
        const int64_t count = std::min<int64_t>(kMostBlockPixels, places - place);
        block.x = scratch + place * cut_.Pitch();
        block.pixels = count;
        block_(block);
        EndPlaces(first, place, count, group, block, sink);
      }
      block.w += block.groups * block.steps * AmxCut::kBlock * AmxCut::kDepth;
    }
  }

  // Hands the sums on row by row.
  template <typename Sink>
  void EndPlaces(int64_t first, int64_t place, int64_t count, int64_t group, const Block<Sum>& block,
                 Sink& sink) const {
    for (int64_t done = 0; done < count;) {
      const int64_t row = (place + done) / cut_.columns, column = (place + done) % cut_.columns;
      // Rows without anything between them are one.
      const int64_t whole = cut_.columns == s_.ow ? count : std::min(count - done, cut_.columns - column);
      const int64_t width = cut_.columns == s_.ow ? count : std::min(whole, s_.ow - column);
      if (width > 0) {
        const int64_t pixel = (first + row) * s_.ow + column;
        const int64_t at = (group * s_.oh * s_.ow + pixel) * AmxCut::kBlock;
        sink.EndTile(at, group, block.groups, width, block.sums + done * AmxCut::kBlock,
                     kMostBlockPixels * AmxCut::kBlock);
        sink.EndRow(at, group, block.groups, width);
      }
      done += whole;
    }
  }

  ConvShape s_;
  AmxCut cut_;
  const SimdTable* simd_;
  BlockFunction block_;
  Gathered padding_;
  std::vector<int32_t> offsets_;  // of the steps' pixels, in the order of the packed weights
};

}  // namespace npustream::kernels
