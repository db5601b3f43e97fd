#pragma once

#include <cstddef>
#include <cstdint>

namespace npustream::kernels {

enum class Isa;

// Elementwise functions of one float with up to two parameters.
enum class UnaryOp {
  kIdentity,
  kRelu,
  kLeakyRelu,
  kClip,
  kSigmoid,
  kSilu,
  kHardSwish,
  kHardSigmoid,
  kTanh,
  kElu,
  kMish,
  kGelu,
  kErf,
  kExp,
  kSqrt,
  kNeg,
  kAbs,
  kReciprocal,
  kFloor,
  kCeil,
  kRound,
  kSoftplus,
  kSelu,
  kCount,
};
enum class BinaryOp { kAdd, kSub, kMul, kDiv, kMin, kMax, kPRelu, kCount };

// One group of channels of the result of a Planes step takes lanes from up to so many groups of its sources.
struct LaneSource {
  const float* group;  // first pixel of the source's group
  int32_t lanes[16];   // for each result lane the source's lane
  uint32_t mask;       // result lanes that come from this source
};

// Geometry of a pooling window sweep; sizes in pixels.
struct PoolShape {
  int64_t in_h, in_w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h, dilation_w;
  int64_t pad_bottom, pad_right;
  bool is_max, count_include_pad;
};

// What AIPP does to a picture; see om/aipp_config.h. All arithmetic is that of AippPixels in aipp.inl.
struct AippRow {
  int32_t matrix[9];
  int32_t input_bias[3], output_bias[3];
  float offset[3];  // mean
  float minimum[3];
  float scale[3];
  bool csc;
};

// One tile of a convolution over blocked results: up to `kMaxTileGroups` groups of result channels × some pixels of one
// row. Strides in floats. A plain source is one whose groups have a single channel.
struct ConvTile {
  const float* x;  // source at the tile's first pixel, first channel, top left of the window
  const float* w;  // [group of source channels][kh][kw][source channel][result group][lane]
  // Sums start from what y holds when `accumulate`, else from bias [result group][lane] and residual (as y, or null).
  bool accumulate;
  const float* bias;
  const float* residual;
  float* y;  // first pixel of the first result group
  int64_t y_group_stride;
  int64_t in_groups, lanes, last_lanes;  // source channels in a group, and in the last one
  int64_t kh, kw;
  int64_t x_group_stride, x_kh_stride, x_kw_stride, x_pixel_stride;
  // Plain source: where each of the `taps` weights of a result channel finds its pixel, from x on.
  const int32_t* offsets;
  int64_t taps;
};
// Blocked or plain source, with neighbouring pixels of a tile 1, 2 or x_pixel_stride apart.
enum class TileSource { kBlocked1, kBlocked2, kBlocked, kPlain1, kPlain2, kPlain, kCount };
inline constexpr int kMaxTileGroups = 4;
inline constexpr int kMaxTilePixels = 14;

// One row of a depthwise convolution of one group of channels. Strides in floats.
struct DepthwiseRow {
  const float* x;  // source at the window's top left for the first pixel, which may lie outside the row
  const float* w;  // [kh][kw][lane]
  const float* bias;
  const float* residual;  // as y, or null
  float* y;
  int64_t pixels;          // of the result
  int64_t x_column, in_w;  // source column of x, and how many there are: columns outside are zero
  int64_t kh_first, kh_last, kh, kw, stride_w, dilation_w;
  int64_t x_kh_stride;
};

struct SimdTable {
  // y[i] = op(x[i]); x and y may be the same. a, b: activation_alpha and _beta.
  using Unary = void (*)(const float* x, float* y, size_t n, float a, float b);
  // z[i] = x[i] op y[i]; z may be x or y.
  using Binary = void (*)(const float* x, const float* y, float* z, size_t n);
  // z[i] = x[i] op y (or y op x[i] when swapped).
  using BinaryScalar = void (*)(const float* x, float y, float* z, size_t n, bool swapped);
  // For a blocked group: z[p][l] = x[p][l] op y[l] for `pixels` pixels of `block` lanes.
  using BinaryLanes = void (*)(const float* x, const float* y, float* z, size_t pixels, size_t block, bool swapped);

  Unary unary[static_cast<int>(UnaryOp::kCount)];
  Binary binary[static_cast<int>(BinaryOp::kCount)];
  BinaryScalar binary_scalar[static_cast<int>(BinaryOp::kCount)];
  BinaryLanes binary_lanes[static_cast<int>(BinaryOp::kCount)];

  // Groups of channels [group][pixel][block] from planes [channel][pixel] and back; `channels` real channels, the
  // group's other lanes become zero.
  void (*to_blocked)(const float* planes, float* blocked, size_t channels, size_t pixels, size_t block);
  void (*from_blocked)(const float* blocked, float* planes, size_t channels, size_t pixels, size_t block);
  // result[p][l] from the lanes of `count` sources, zero where none.
  void (*gather_lanes)(const LaneSource* sources, size_t count, float* result, size_t pixels, size_t block);
  // Pools one blocked group, or one plain plane (block 1); `scratch` takes in_h × out_w pixels.
  void (*pool)(const float* x, float* y, const PoolShape& shape, float* scratch, size_t block);
  // Sums `pixels` pixels of a blocked group lane by lane.
  void (*sum_pixels)(const float* x, float* sums, size_t pixels, size_t block);
  // y[i] = x[i] to the power of e, to single precision's accuracy.
  void (*power)(const float* x, float* y, size_t n, float e);
  // y[i] = a·x[i] + b·z[i].
  void (*blend)(const float* x, const float* z, float* y, float a, float b, size_t n);
  // One row of pixels: three bytes a pixel from separate rows → three rows of floats.
  void (*aipp_row)(const uint8_t* const channels[3], float* const rows[3], size_t n, const AippRow& row);
  // A 4:2:0 semi-planar row: luma and interleaved chroma (u, v per two pixels) from the even column `x0` on.
  void (*aipp_nv12_row)(const uint8_t* luma, const uint8_t* chroma, bool swap_uv, float* const rows[3], size_t n,
                        const AippRow& row);
  // Tiles by [kind of source][result groups − 1][pixels − 1]. Null where there are not enough registers (or, for plain
  // sources, for more than two groups), and all of them on the baseline.
  void (*conv[static_cast<int>(TileSource::kCount)][kMaxTileGroups][kMaxTilePixels])(const ConvTile& tile);
  void (*depthwise_row)(const DepthwiseRow& row);
};

// Fill the convolution part of a table; in files of their own, as they take long to compile.
void FillConvAvx2(SimdTable& table);
void FillConvAvx512(SimdTable& table);

const SimdTable& SimdFor(Isa isa);
const SimdTable& BaselineSimd();
const SimdTable& Avx2Simd();
const SimdTable& Avx512Simd();

}  // namespace npustream::kernels
