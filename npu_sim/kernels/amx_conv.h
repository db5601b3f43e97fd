#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "npu_sim/kernels/conv_cut.h"
#include "npu_sim/kernels/simd/simd.h"

// Dense convolutions of bytes on AMX's tiles: 16 pixels × 64 source channels times 64 source channels × 16 result channels
// an instruction. See README.md.
namespace npustream::kernels {

// How such a convolution is cut: a function of the shape and the source's layout. The source is gathered band by band into
// planes in which every tap of every result pixel is found a fixed way from the pixel's own place:
// [chunk of channels][phase of rows][row][column][channel], where a phase holds every stride-th row of the source with its
// padding, and a row as many pixels for a result pixel as the stride has.
struct AmxCut {
  static constexpr int64_t kBlock = 16;  // result channels of a tile
  static constexpr int64_t kDepth = 64;  // source bytes that one instruction takes of a pixel

  int64_t in_block;               // channels of a group in the source: 16, or 4 for pictures
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

  AmxCut(const ConvShape& s, om::Layout source);

  // Bytes from one result pixel's source to the next one's.
  int64_t Pitch() const { return column_stride * channels; }

  int64_t Steps(const ConvShape& s) const { return chunks * s.kh * row_steps; }
  int64_t RowBytes() const { return columns * Pitch(); }
  int64_t PlaneBytes() const { return plane_rows * RowBytes(); }
  int64_t ChunkBytes() const { return PlaneBytes() * static_cast<int64_t>(row_phases.size()); }
  // Packed weights, all convolution groups.
  int64_t Weights(const ConvShape& s) const { return s.groups * out_groups * kBlock * kDepth * Steps(s); }
  int64_t Channels(const ConvShape& s) const { return s.groups * out_groups * kBlock; }
  // The gathered band, with room for what the last tile reads beyond it.
  int64_t Scratch() const { return chunks * ChunkBytes() + kMostBlockPixels * Pitch() + kDepth; }
};

// Weights o, i, kh, kw as [convolution group][pair of result groups][chunk][kh][step][result group][depth/4][result
// channel][4].
void PackAmx(const ConvShape& s, const AmxCut& cut, const int8_t* plain, int8_t* to);

// The walk over the tiles; the same interface as ConvDriver's.
class AmxDriver {
 public:
  struct Picture {
    const uint8_t* x;
    const int8_t* w;
    const int32_t* bias;
  };

  AmxDriver(const ConvShape& s, om::Layout source, const SimdTable& simd, uint8_t padding);

  const AmxCut& cut() const { return cut_; }

  // `sums` takes 2 · kMostBlockPixels · 16 integers, `scratch` AmxCut::Scratch bytes.
  template <typename Sink>
  void Run(const Picture& picture, int32_t* sums, uint8_t* scratch, Sink& sink) const {
    simd_->begin_blocks();
    for (int64_t first = 0; first < s_.oh; first += cut_.band_rows) {
      const int64_t rows = std::min(cut_.band_rows, s_.oh - first);
      Gather(picture.x, first, rows, scratch);
      RunBand(picture, first, rows, sums, scratch, sink);
    }
    simd_->end_blocks();
  }

 private:
  void Gather(const uint8_t* x, int64_t first, int64_t rows, uint8_t* to) const;
  void GatherRow(const uint8_t* x, int64_t group, int64_t groups, int64_t row, uint8_t* to) const;

  template <typename Sink>
  void RunBand(const Picture& picture, int64_t first, int64_t rows, int32_t* sums, const uint8_t* scratch,
               Sink& sink) const {
    ByteBlock block = {};
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
        simd_->byte_block(block);
        EndPlaces(first, place, count, group, block, sink);
      }
      block.w += block.groups * block.steps * AmxCut::kBlock * AmxCut::kDepth;
    }
  }

  // Hands the sums on row by row.
  template <typename Sink>
  void EndPlaces(int64_t first, int64_t place, int64_t count, int64_t group, const ByteBlock& block, Sink& sink) const {
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
  uint8_t padding_;
  std::vector<int32_t> offsets_;  // of the steps' pixels, in the order of the packed weights
};

}  // namespace npustream::kernels
