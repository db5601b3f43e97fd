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
// row. Strides in elements. Sources are read `depth` channels at a time: one float, or four bytes. A plain source is one
// whose groups have no more channels than that.
template <typename Source, typename Weight, typename Sum>
struct Tile {
  const Source* x;  // source at the tile's first pixel, first channel, top left of the window
  // [group of source channels][kh][kw][source channel / depth][result group][lane][depth]
  const Weight* w;
  // Sums start from what y holds when `accumulate`, else from bias [result group][lane] and residual (as y, or null).
  bool accumulate;
  const Sum* bias;
  const Sum* residual;
  Sum* y;  // first pixel of the first result group
  int64_t y_group_stride, y_pixel_stride;
  int64_t in_groups, lanes, last_lanes;  // source channels in a group, and in the last one; multiples of the depth
  int64_t kh, kw;
  int64_t x_group_stride, x_kh_stride, x_kw_stride, x_pixel_stride;
  // Plain source: where each of the `taps` weights of a result channel finds its pixel, from x on.
  const int32_t* offsets;
  int64_t taps;
};
using ConvTile = Tile<float, float, float>;
using ByteConvTile = Tile<uint8_t, int8_t, int32_t>;
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

// One row of a convolution with few result channels over planes. Strides in floats.
struct PlaneConvRow {
  const float* x;  // source of the first pixel's first tap; rows can be read up to a whole vector of pixels
  const int32_t* offsets;  // from x to each tap
  int64_t taps;
  const float* w;  // [tap][result plane]
  const float* bias;
  const float* residual;  // as y, or null
  float* y;
  int64_t y_plane_stride, pixels;
};
inline constexpr int kMostPlanes = 8;

// A row of Winograd's tiles of one group of channels: squares of the source, `side` + 2 pixels wide, that start `side`
// pixels apart, into the points of their transformations. Pixels outside of the picture are zero.
struct WinogradSource {
  const float* x;  // the whole picture
  int64_t height, width;
  int64_t top, left;  // of the first tile
  int64_t tiles;
  float* y;  // [point][tile][lane]
  int64_t point_stride;
};
// A row of tiles of sums, point by point, back into squares of `side` x `side` results.
struct WinogradResult {
  const float* x;  // [point][tile][lane]
  int64_t point_stride;
  const float* bias;
  const float* residual;  // as y, or null
  float* y;
  int64_t rows, columns;  // pixels that the picture has there: `columns` in a whole row of it
};
struct WinogradTable {
  void (*source)(const WinogradSource& source);
  void (*result)(const WinogradResult& result);
};

// Sums of products of bytes become a result: real = sum · scale + bias [+ residual · residual_scale], the activation,
// then integer = real · factor, rounded, + zero point, held in [low, high]. Sums that go through no function of their own have
// their factor in scale and bias.
struct ByteFinish {
  const int32_t* sums;  // [group][pixel][lane]
  int64_t sum_group_stride;
  const float* scale;  // [group][lane]
  const float* bias;   // [group][lane]
  const uint8_t* residual;  // as y, or null
  float residual_scale;
  float a, b;  // of the activation
  const float* factor;  // [group][lane]
  int64_t factor_group_stride;  // 0: all groups have the same
  float zero_point, low, high;
  uint8_t* y;      // one of the two: bytes, or the real numbers
  float* real_y;
  int64_t y_group_stride;  // elements
  int64_t groups, pixels;
};

// A line of a depthwise convolution of bytes: the source of one row under `quads` quads of taps for each of some pixels,
// as vectors of four bytes (neighbouring taps) per channel.
struct ByteDepthwiseRow {
  const uint8_t* const* lines;  // one per kernel row, at the first pixel
  const int8_t* w;              // [kh][quad][pair member][lane][4]; pair members only when `pairs`
  const int32_t* bias;          // [lane]
  int32_t* sums;                // [pixel][lane]
  int64_t pixels, kh, quads;
  // A vector serves two neighbouring pixels (stride 1): lines are [quad][pair] by pairs, each quad a pair further on,
  // else [pixel][quad].
  bool pairs;
};

// Sums of products of up to kMostBlockPixels pixels and two groups of 16 result channels: what AMX's tiles hold at once.
// `steps` times 64 bytes of every pixel (64 bytes, or 32 bfloat16) meet as many weights for each result channel.
inline constexpr int64_t kMostBlockPixels = 32;
template <typename SumType>
struct Block {
  using Sum = SumType;
  const std::byte* x;      // the first pixel
  int64_t x_pitch;         // bytes from one pixel to the next; 64 bytes of each of 16 or 32 pixels are read
  const int32_t* offsets;  // from x to the bytes of each step
  int64_t steps;
  const std::byte* w;  // [step][group][byte/4][lane][4]
  const Sum* bias;     // [group][lane]
  Sum* sums;           // [group][kMostBlockPixels][lane]; those beyond `pixels` may be written too
  int64_t pixels, groups;
};
using ByteBlock = Block<int32_t>;
using Bf16Block = Block<float>;

// Sums of float32 become a result: a residual is added, then comes the activation, to less than bfloat16 rounds away.
struct RealFinish {
  const float* sums;  // [group][pixel][lane]
  int64_t sum_group_stride;
  const void* residual;  // as y, or null
  void* y;
  bool bf16_residual, bf16_y;  // bfloat16, rounded to nearest even, else float32
  int64_t y_group_stride;      // elements
  int64_t groups, pixels;
  float a, b;
};

// A row of `pixels` pixels of one group of channels as vectors of four pixels that lie `dilation` apart.
struct FourPixelRow {
  const uint8_t* row;
  int64_t pixels;
  uint8_t outside;        // what pixels outside the row hold
  int64_t first, step;    // first pixel of the first vector, and from one vector to the next
  int64_t dilation;
  uint8_t* to;
  int64_t vectors, to_step;  // to_step in bytes
};

// Over bytes: z = x · x_scale + y · y_scale + offset, or (x − x_zero)(y − y_zero) · x_scale + offset, rounded. (The zero
// point goes in before rounding, as ONNX Runtime does it; that decides ties.)
struct ByteBinary {
  const uint8_t *x, *y;
  uint8_t* z;
  size_t n;
  float x_scale, y_scale, x_zero, y_zero, offset, low, high;
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

  // y[c · y_step + r] = x[r · x_step + c].
  using Transpose = void (*)(const float* x, size_t x_step, size_t rows, size_t columns, float* y, size_t y_step);
  Transpose transpose;
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
  // `lanes` floats of each of `pixels` pixels as bfloat16, to nearest even; steps in elements.
  void (*to_bf16)(const float* x, int64_t x_step, uint16_t* y, int64_t y_step, int64_t pixels, int64_t lanes);
  // y[i] = x[i] to the power of e, to single precision's accuracy.
  void (*power)(const float* x, float* y, size_t n, float e);
  // y[i] = a·x[i] + b·z[i].
  void (*blend)(const float* x, const float* z, float* y, float a, float b, size_t n);
  // y = (x − mean) / sqrt(variance + epsilon) · scale + bias over a row; bias may be null. x and y may be the same.
  void (*layer_norm_row)(const float* x, const float* scale, const float* bias, float* y, size_t n, float epsilon);
  // y = exp(x − max) / Σ exp(x − max) over a row. x and y may be the same.
  void (*softmax_row)(const float* x, float* y, size_t n);
  // One row of pixels: three bytes a pixel from separate rows → three rows of floats.
  void (*aipp_row)(const uint8_t* const channels[3], float* const rows[3], size_t n, const AippRow& row);
  // A 4:2:0 semi-planar row: luma and interleaved chroma (u, v per two pixels) from the even column `x0` on.
  void (*aipp_nv12_row)(const uint8_t* luma, const uint8_t* chroma, bool swap_uv, float* const rows[3], size_t n,
                        const AippRow& row);
  // Tiles by [kind of source][result groups − 1][pixels − 1]. Null where there are not enough registers (or, for plain
  // sources, for more than two groups), and all of them on the baseline.
  void (*conv[static_cast<int>(TileSource::kCount)][kMaxTileGroups][kMaxTilePixels])(const ConvTile& tile);
  void (*depthwise_row)(const DepthwiseRow& row);
  WinogradTable winograd[2];  // side 2 and side 4; null on the baseline
  // By number of result planes − 1; null on the baseline.
  void (*plane_conv[kMostPlanes])(const PlaneConvRow& row);

  // The same on bytes.
  void (*byte_conv[static_cast<int>(TileSource::kCount)][kMaxTileGroups][kMaxTilePixels])(const ByteConvTile& tile);
  // By activation; null for those that are not fused. The identity is the one for activations that `low` and `high`
  // and a folded scale express.
  void (*byte_finish[static_cast<int>(UnaryOp::kCount)])(const ByteFinish& finish);
  // Sums become real numbers; no activation.
  void (*real_finish)(const ByteFinish& finish);
  // A row of n sums of products: y = (sum + offset) · scale + bias (which may be null), by column. Sums wrap around.
  void (*row_finish)(const int32_t* sums, const int32_t* offsets, const float* scales, const float* biases, float* y,
                     size_t n);
  void (*byte_depthwise)(const ByteDepthwiseRow& row);
  void (*four_pixels)(FourPixelRow row);
  // y[i] = x[i] / scale, rounded, + zero point, in [0, 255]; and back.
  void (*quantize)(const float* x, uint8_t* y, size_t n, float scale, float zero_point);
  void (*dequantize)(const uint8_t* x, float* y, size_t n, float scale, float zero_point);
  // y[i] = table[x[i]]; x and y may be the same.
  void (*look_up)(const uint8_t* x, uint8_t* y, size_t n, const uint8_t* table);
  // y becomes the greater of x and y: `count` pixels of `block` bytes, in x `step` bytes apart.
  void (*byte_max)(const uint8_t* x, size_t step, uint8_t* y, size_t count, size_t block);
  // Pixels of four bytes from three rows; the last byte is 0.
  void (*interleave)(const uint8_t* const rows[3], uint8_t* pixels, size_t n);
  // Adds each of `block` (at most 16) lanes of `pixels` pixels to its sum.
  void (*byte_sums)(const uint8_t* x, int32_t* sums, size_t pixels, size_t block);
  // Null where there are no tiles. Between begin_blocks and end_blocks a thread may call byte_block.
  void (*byte_block)(const ByteBlock& block);
  void (*bf16_block)(const Bf16Block& block);  // sums of float32
  // By activation; null for those that are not fused, and where there are no tiles.
  void (*bf16_finish[static_cast<int>(UnaryOp::kCount)])(const RealFinish& finish);
  void (*from_bf16)(const uint16_t* x, float* y, size_t n);  // n: whole vectors
  void (*begin_blocks)();
  void (*end_blocks)();
  void (*byte_add)(const ByteBinary& binary);
  void (*byte_mul)(const ByteBinary& binary);
};

// Fill the convolution part of a table; in files of their own, as they take long to compile.
void FillConvAvx2(SimdTable& table);
void FillConvAvx512(SimdTable& table);
// The part for bytes.
void FillBytesGeneric(SimdTable& table);
void FillBytesAvx2(SimdTable& table);
void FillBytesAvx512(SimdTable& table);
void FillBytesAvx512Vnni(SimdTable& table);
// Blocks on tiles: those of AMX, or the same in plain C++.
void FillBlocksAmx(SimdTable& table);
void FillBlocksEmulated(SimdTable& table);
// What such sums become, on CPUs that round to bfloat16 in one instruction (all that have AMX) and on others.
void FillBf16Amx(SimdTable& table);
void FillBf16Avx512(SimdTable& table);

const SimdTable& SimdFor(Isa isa);
const SimdTable& BaselineSimd();
const SimdTable& Avx2Simd();
const SimdTable& Avx512Simd();

}  // namespace npustream::kernels
