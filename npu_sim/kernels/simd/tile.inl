// Convolution tiles in registers, for floats and for bytes. Needs a vec_*.h before it.
namespace npustream::kernels {
namespace {

constexpr int64_t kBlock = static_cast<int64_t>(kWidth);

// What a tile is made of: how a source pixel and the weights are read, and how they meet in a sum.
struct FloatMath {
  using Tile = ConvTile;
  using Sum = V;
  static constexpr int64_t kDepth = 1;
  static V LoadSum(const float* p) { return Load(p); }
  static void StoreSum(float* p, V x) { Store(p, x); }
  static V Weight(const float* p) { return Load(p); }
  static V Source(const float* p) { return Set(*p); }
  static V Multiply(V sum, V source, V weight) { return MulAdd(weight, source, sum); }
  static V AddSums(V a, V b) { return a + b; }
};
struct ByteMath {
  using Tile = ByteConvTile;
  using Sum = VI;
  static constexpr int64_t kDepth = 4;
  static VI LoadSum(const int32_t* p) { return LoadInts(p); }
  static void StoreSum(int32_t* p, VI x) { StoreInts(p, x); }
  static VI Weight(const int8_t* p) { return LoadQuads(p); }
  static VI Source(const uint8_t* p) { return RepeatQuad(p); }
  static VI Multiply(VI sum, VI source, VI weight) { return Dot4(sum, source, weight); }
};

// Pixels a tile of `groups` result groups can have: accumulators, one weight per group and one pixel must fit the
// register file (32 registers, or 16 with AVX2).
constexpr int MostPixels(int groups) {
  const int registers = kWidth == 16 ? 32 : 16;
  const int fit = (registers - groups - 1) / groups;
  return fit < kMaxTilePixels ? fit : kMaxTilePixels;
}

constexpr bool IsPlain(TileSource source) { return source >= TileSource::kPlain1; }

// Elements between neighbouring pixels of a tile; 0 when only the tile knows. Constants keep addresses out of registers.
template <typename Math>
constexpr int64_t PixelStride(TileSource source) {
  switch (source) {
    case TileSource::kBlocked1: return kBlock;
    case TileSource::kBlocked2: return 2 * kBlock;
    case TileSource::kPlain1: return Math::kDepth;
    case TileSource::kPlain2: return 2 * Math::kDepth;
    default: return 0;
  }
}

template <typename Math, TileSource kSource, int kGroups, int kPixels>
void RunTile(const typename Math::Tile& t) {
  using Sum = typename Math::Sum;
  Sum sum[kGroups][kPixels];
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) {
    const auto* y = t.y + g * t.y_group_stride;
    if (t.accumulate) {
#pragma GCC unroll 14
      for (int p = 0; p < kPixels; ++p) sum[g][p] = Math::LoadSum(y + p * t.y_pixel_stride);
      continue;
    }
    const Sum bias = Math::LoadSum(t.bias + g * kBlock);
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) sum[g][p] = bias;
    if constexpr (Math::kDepth == 1) {
      if (!t.residual) continue;
#pragma GCC unroll 14
      for (int p = 0; p < kPixels; ++p)
        sum[g][p] = Math::AddSums(bias, Math::LoadSum(t.residual + g * t.y_group_stride + p * t.y_pixel_stride));
    }
  }
  constexpr int64_t kStride = PixelStride<Math>(kSource);
  const int64_t pixel_stride = kStride > 0 ? kStride : t.x_pixel_stride;
  const auto* w = t.w;
  // As many weights again follow, of the next chunk or of the next result groups: while these are used, those are on
  // their way into the second-level cache. Not so with other counts of groups, which are for few weights.
  constexpr bool kFetchesAhead = Math::kDepth == 1 && !IsPlain(kSource) && kGroups == 2;
  [[maybe_unused]] const int64_t next_weights =
      ((t.in_groups - 1) * t.lanes + t.last_lanes) * t.kh * t.kw * kGroups * kBlock;
  // Some source channels of a pixel under the window: their weights, and every pixel of the tile.
  const auto accumulate = [&](const auto* x) __attribute__((always_inline)) {
    Sum weight[kGroups];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      weight[g] = Math::Weight(w + g * kBlock * Math::kDepth);
      if constexpr (kFetchesAhead) __builtin_prefetch(w + next_weights + g * kBlock, 0, 2);
    }
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
      const Sum value = Math::Source(x + p * pixel_stride);
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) sum[g][p] = Math::Multiply(sum[g][p], value, weight[g]);
    }
    w += kGroups * kBlock * Math::kDepth;
  };
  if constexpr (IsPlain(kSource)) {
    // Each tap reads another row: too many streams for the hardware to foresee the next tile's.
    for (int64_t tap = 0; tap < t.taps; ++tap) {
      const auto* x = t.x + t.offsets[tap];
      __builtin_prefetch(x + kPixels * pixel_stride);
      accumulate(x);
    }
  }
  for (int64_t group = 0; !IsPlain(kSource) && group < t.in_groups; ++group) {
    const int64_t lanes = group + 1 < t.in_groups ? t.lanes : t.last_lanes;
    for (int64_t kh = 0; kh < t.kh; ++kh) {
      for (int64_t kw = 0; kw < t.kw; ++kw) {
        const auto* x = t.x + group * t.x_group_stride + kh * t.x_kh_stride + kw * t.x_kw_stride;
        for (int64_t lane = 0; lane < lanes; lane += Math::kDepth) accumulate(x + lane);
      }
    }
  }
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) {
    auto* y = t.y + g * t.y_group_stride;
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) Math::StoreSum(y + p * t.y_pixel_stride, sum[g][p]);
  }
}

// Enters the tiles of one kind of source, of up to kGroups groups.
template <typename Math, TileSource kSource, int kGroups, int kPixels = MostPixels(kGroups), typename Table>
void SetTiles(Table& table) {
  if constexpr (kPixels > 0) {
    table[static_cast<int>(kSource)][kGroups - 1][kPixels - 1] = RunTile<Math, kSource, kGroups, kPixels>;
    SetTiles<Math, kSource, kGroups, kPixels - 1>(table);
  } else if constexpr (kGroups > 1) {
    SetTiles<Math, kSource, kGroups - 1>(table);
  }
}

template <typename Math, typename Table>
void SetAllTiles(Table& table) {
  SetTiles<Math, TileSource::kBlocked1, 4>(table);
  SetTiles<Math, TileSource::kBlocked2, 4>(table);
  SetTiles<Math, TileSource::kBlocked, 4>(table);
  SetTiles<Math, TileSource::kPlain1, 2>(table);
  SetTiles<Math, TileSource::kPlain2, 2>(table);
  SetTiles<Math, TileSource::kPlain, 2>(table);
}

}  // namespace
}  // namespace npustream::kernels
