// Convolutions over planes: vectors of neighbouring pixels. Part of a conv_*.cpp, after tile.inl.
namespace npustream::kernels {
namespace {

// Vectors of pixels for `planes` result planes: sums, as many source vectors and a weight must fit the register file.
constexpr int MostVectors(int planes) {
  const int registers = kWidth == 16 ? 32 : 16;
  const int fit = (registers - 2) / (planes + 1);
  return fit < 6 ? fit : 6;
}

// The last of kVectors vectors has `last` pixels.
template <int kPlanes, int kVectors>
void RunPlaneTile(const PlaneConvRow& r, int64_t pixel, size_t last) {
  V sum[kPlanes][kVectors];
  const auto load = [&](const float* p, int v) { return v + 1 < kVectors ? Load(p) : LoadFirst(p, last); };
#pragma GCC unroll 8
  for (int o = 0; o < kPlanes; ++o) {
    const V bias = Set(r.bias[o]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sum[o][v] = bias;
      if (r.residual) sum[o][v] = bias + load(r.residual + o * r.y_plane_stride + pixel + v * kBlock, v);
    }
  }
  const float* w = r.w;
  for (int64_t tap = 0; tap < r.taps; ++tap, w += kPlanes) {
    const float* x = r.x + r.offsets[tap] + pixel;
    V value[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) value[v] = Load(x + v * kBlock);
#pragma GCC unroll 8
    for (int o = 0; o < kPlanes; ++o) {
      const V weight = Set(w[o]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[o][v] = MulAdd(weight, value[v], sum[o][v]);
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < kPlanes; ++o) {
    float* y = r.y + o * r.y_plane_stride + pixel;
#pragma GCC unroll 8
    for (int v = 0; v + 1 < kVectors; ++v) Store(y + v * kBlock, sum[o][v]);
    StoreFirst(y + (kVectors - 1) * kBlock, sum[o][kVectors - 1], last);
  }
}

template <int kPlanes, int kVectors>
void RunPlaneTileOf(int64_t vectors, const PlaneConvRow& r, int64_t pixel, size_t last) {
  if (vectors == kVectors) return RunPlaneTile<kPlanes, kVectors>(r, pixel, last);
  if constexpr (kVectors > 1) RunPlaneTileOf<kPlanes, kVectors - 1>(vectors, r, pixel, last);
}

template <int kPlanes>
void RunPlaneRow(const PlaneConvRow& r) {
  constexpr int64_t kMost = MostVectors(kPlanes);
  int64_t vectors = (r.pixels + kBlock - 1) / kBlock, pixel = 0;
  for (int64_t parts = (vectors + kMost - 1) / kMost; parts > 0; --parts) {
    const int64_t width = (vectors + parts - 1) / parts, rest = r.pixels - pixel - (width - 1) * kBlock;
    RunPlaneTileOf<kPlanes, kMost>(width, r, pixel, static_cast<size_t>(rest < kBlock ? rest : kBlock));
    vectors -= width;
    pixel += width * kBlock;
  }
}

template <int kPlanes = kMostPlanes>
void SetPlaneRows(SimdTable& table) {
  table.plane_conv[kPlanes - 1] = RunPlaneRow<kPlanes>;
  if constexpr (kPlanes > 1) SetPlaneRows<kPlanes - 1>(table);
}

}  // namespace
}  // namespace npustream::kernels
