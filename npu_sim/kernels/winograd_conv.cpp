#include "npu_sim/kernels/winograd_conv.h"

#include <algorithm>
#include <array>

#include "npu_sim/kernels/conv_driver.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Transformed source and sums of the tiles that are worked on at a time: most of the second-level cache.
constexpr int64_t kBandBytes = 1024 * 1024;

// Costs in products of vectors. A transformation's was measured; weights that are used for less than kReuse pixels wait
// for the memory.
constexpr int64_t kReuse = 26;
int64_t TransformCost(int64_t side) { return side == 4 ? 400 : 160; }

// A row of tiles that takes more is left to the direct method.
constexpr size_t kMostScratchBytes = 64 * 1024 * 1024;

int64_t Points(int64_t side) { return (side + 2) * (side + 2); }

// How a convolution is cut into squares of `side` x `side` results.
struct Cut {
  int64_t side, block, in_groups, out_groups, rows, columns;  // rows and columns of tiles

  Cut(const ConvShape& s, int64_t result_side, Isa isa)
      : side(result_side),
        block(om::BlockOf(BlockedLayout(isa))),
        in_groups(GroupsOf(s.ic, block)),
        out_groups(GroupsOf(s.oc, block)),
        rows(GroupsOf(s.oh, side)),
        columns(GroupsOf(s.ow, side)) {}

  double Cost(const ConvShape& s) const {
    const int64_t tiles = rows * columns;
    return static_cast<double>(std::max(tiles, kReuse) * Points(side)) * static_cast<double>(s.ic * out_groups) +
           static_cast<double>(tiles * TransformCost(side)) * static_cast<double>(in_groups + out_groups);
  }
  int64_t TileFloats() const { return Points(side) * (in_groups + out_groups) * block; }
  int64_t BandRows() const {
    return std::clamp<int64_t>(kBandBytes / (TileFloats() * columns * static_cast<int64_t>(sizeof(float))), 1, rows);
  }
  size_t ScratchBytes() const { return static_cast<size_t>(TileFloats() * columns * BandRows()) * sizeof(float); }
};

double DirectCost(const ConvShape& s, Isa isa) {
  return static_cast<double>(std::max(s.oh * s.ow, kReuse) * 9) *
         static_cast<double>(s.ic * GroupsOf(s.oc, om::BlockOf(BlockedLayout(isa))));
}

Cut BestCut(const ConvShape& s, Isa isa) {
  const Cut small(s, 2, isa), large(s, 4, isa);
  return large.Cost(s) <= small.Cost(s) ? large : small;
}

// The product of one point: `tiles` pixels of a pointwise convolution.
ConvShape PointShape(const ConvShape& s, int64_t tiles) {
  ConvShape point;
  point.n = 1, point.ic = s.ic, point.oc = s.oc;
  point.iw = point.ow = tiles;
  return point;
}

ConvCut PointCut(const ConvShape& point, Isa isa) { return CutConv(point, BlockedLayout(isa), isa, 1); }

int64_t PackedFloats(const ConvShape& s, const Cut& cut, Isa isa) {
  const ConvShape point = PointShape(s, 1);
  return Points(cut.side) * PointCut(point, isa).Weights(point) + 2 * cut.out_groups * cut.block;
}

// Rows of the matrix that transforms a line of three weights.
std::vector<std::array<double, 3>> WeightRows(int64_t side) {
  if (side == 2) return {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  return {{1.0 / 4, 0, 0},
          {-1.0 / 6, -1.0 / 6, -1.0 / 6},
          {-1.0 / 6, 1.0 / 6, -1.0 / 6},
          {1.0 / 24, 1.0 / 12, 1.0 / 6},
          {1.0 / 24, -1.0 / 12, 1.0 / 6},
          {0, 0, 1}};
}

// The weights of point (i, j) for every pair of channels.
std::vector<float> PointWeights(const ConvShape& s, const float* weights, const std::array<double, 3>& row,
                                const std::array<double, 3>& column) {
  std::vector<float> point(static_cast<size_t>(s.oc * s.ic));
  for (float& value : point) {
    double sum = 0;
    for (size_t h = 0; h < 3; ++h) {
      for (size_t w = 0; w < 3; ++w) sum += row[h] * column[w] * static_cast<double>(weights[h * 3 + w]);
    }
    value = static_cast<float>(sum);
    weights += 9;
  }
  return point;
}

// Sums go to the matrix of their point and are finished later.
struct PointSink {
  float* sums;
  int64_t group_stride;

  float* Target(int64_t at, int64_t) const { return sums + at; }
  int64_t GroupStride(int64_t) const { return group_stride; }
  const float* Residual(int64_t) const { return nullptr; }
  void EndTile(int64_t, int64_t, int64_t, int64_t, const float*) const {}
  void EndRow(int64_t, int64_t, int64_t, int64_t) const {}
};

class WinogradExecutor final : public Executor {
 public:
  WinogradExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s),
        cut_(BestCut(s, problem.isa)),
        simd_(SimdFor(problem.isa)),
        table_(simd_.winograd[cut_.side == 4 ? 1 : 0]),
        band_(Driver(cut_.BandRows(), problem.isa)),
        last_band_(Driver((cut_.rows - 1) % cut_.BandRows() + 1, problem.isa)),
        ending_(activation, problem) {}

  Status Run(const Arguments& a) override {
    const int64_t in_step = cut_.in_groups * cut_.block * s_.ih * s_.iw,
                  out_step = cut_.out_groups * cut_.block * s_.oh * s_.ow;
    auto* const source = reinterpret_cast<float*>(a.scratch);
    for (int64_t n = 0; n < s_.n; ++n) {
      for (int64_t row = 0; row < cut_.rows; row += cut_.BandRows()) {
        const int64_t rows = std::min(cut_.BandRows(), cut_.rows - row), tiles = rows * cut_.columns;
        float* const sums = source + Points(cut_.side) * cut_.in_groups * cut_.block * tiles;
        TransformSource(In<float>(a, 0) + n * in_step, row, rows, source);
        Multiply(In<float>(a, 1), row + rows == cut_.rows ? last_band_ : band_, tiles, source, sums);
        const float* residual = s_.has_residual ? In<float>(a, 3) + n * out_step : nullptr;
        TransformSums(sums, row, rows, Bias(a), residual, Out<float>(a) + n * out_step);
      }
    }
    ending_.Finish(Out<float>(a));
    return {};
  }

 private:
  using PointDriver = ConvDriver<float, float, float>;

  PointDriver Driver(int64_t rows, Isa isa) const {
    const ConvShape point = PointShape(s_, rows * cut_.columns);
    return PointDriver(point, PointCut(point, isa), simd_.conv, 0.0f);
  }

  const float* Bias(const Arguments& a) const {
    const ConvShape point = PointShape(s_, 1);
    return In<float>(a, 1) + Points(cut_.side) * band_.cut().Weights(point);
  }

  // [point][source group][tile][lane]
  void TransformSource(const float* x, int64_t first, int64_t rows, float* to) const {
    const int64_t tiles = rows * cut_.columns;
    WinogradSource source = {};
    source.height = s_.ih, source.width = s_.iw;
    source.left = -s_.pad_left, source.tiles = cut_.columns;
    source.point_stride = cut_.in_groups * tiles * cut_.block;
    for (int64_t group = 0; group < cut_.in_groups; ++group) {
      source.x = x + group * s_.ih * s_.iw * cut_.block;
      for (int64_t row = 0; row < rows; ++row) {
        source.top = (first + row) * cut_.side - s_.pad_top;
        source.y = to + (group * tiles + row * cut_.columns) * cut_.block;
        table_.source(source);
      }
    }
  }

  // [point][result group][tile][lane]
  void Multiply(const float* weights, const PointDriver& driver, int64_t tiles, const float* source,
                float* sums) const {
    const ConvShape point = PointShape(s_, 1);
    const int64_t weight_step = driver.cut().Weights(point), in_step = cut_.in_groups * cut_.block * tiles,
                  out_step = cut_.out_groups * cut_.block * tiles;
    const float* zeros = weights + Points(cut_.side) * weight_step + cut_.out_groups * cut_.block;
    for (int64_t p = 0; p < Points(cut_.side); ++p) {
      PointSink sink{sums + p * out_step, tiles * cut_.block};
      driver.Run({source + p * in_step, weights + p * weight_step, zeros}, nullptr, sink);
    }
  }

  void TransformSums(const float* sums, int64_t first, int64_t rows, const float* bias, const float* residual,
                     float* y) const {
    const int64_t tiles = rows * cut_.columns;
    WinogradResult result = {};
    result.point_stride = cut_.out_groups * tiles * cut_.block;
    result.columns = s_.ow;
    for (int64_t group = 0; group < cut_.out_groups; ++group) {
      result.bias = bias + group * cut_.block;
      const int64_t start = (group * s_.oh + first * cut_.side) * s_.ow * cut_.block;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t at = start + row * cut_.side * s_.ow * cut_.block;
        result.x = sums + (group * tiles + row * cut_.columns) * cut_.block;
        result.y = y + at;
        result.residual = residual ? residual + at : nullptr;
        result.rows = std::min(cut_.side, s_.oh - (first + row) * cut_.side);
        table_.result(result);
        ending_.Activate(result.y, result.rows * s_.ow * cut_.block);
      }
    }
  }

  ConvShape s_;
  Cut cut_;
  const SimdTable& simd_;
  const WinogradTable& table_;
  PointDriver band_, last_band_;
  RowActivation ending_;
};

}  // namespace

bool CanWinogradConv(const ConvShape& s, const Problem& problem) {
  const Isa isa = problem.isa;
  if (isa == Isa::kBaseline || (s.has_bias && !problem.inputs[2].is_constant)) return false;
  const bool fits = s.kh == 3 && s.kw == 3 && s.groups == 1 && s.stride_h == 1 && s.stride_w == 1 &&
                    s.dilation_h == 1 && s.dilation_w == 1 && s.ic >= om::BlockOf(BlockedLayout(isa));
  if (!fits) return false;
  const Cut cut = BestCut(s, isa);
  return cut.ScratchBytes() <= kMostScratchBytes && cut.Cost(s) * 4 < DirectCost(s, isa) * 3;
}

Result<Choice> ChooseWinogradConv(const ConvShape& s, const Problem& problem) {
  const Isa isa = problem.isa;
  const Cut cut = BestCut(s, isa);
  const om::Layout blocked = BlockedLayout(isa);
  Choice choice = PlainChoice(problem, std::string("winograd ") + ToString(isa));
  choice.inputs[0] = choice.outputs[0] = blocked;
  if (s.has_residual) {
    choice.inputs[3] = blocked;
    choice.in_place_input = 3;
  }
  om::Bytes packed(static_cast<size_t>(PackedFloats(s, cut, isa)) * sizeof(float));
  auto* to = reinterpret_cast<float*>(packed.data());
  const auto* weights = reinterpret_cast<const float*>(problem.inputs[1].constant.data());
  const ConvShape point = PointShape(s, 1);
  const ConvCut point_cut = PointCut(point, isa);
  const auto rows = WeightRows(cut.side);
  for (const auto& row : rows) {
    for (const auto& column : rows) {
      PackDense(point, point_cut, PointWeights(s, weights, row, column).data(), to);
      to += point_cut.Weights(point);
    }
  }
  if (s.has_bias) std::copy_n(reinterpret_cast<const float*>(problem.inputs[2].constant.data()), s.oc, to);
  choice.packed[1] = std::move(packed);
  choice.scratch_bytes = cut.ScratchBytes();
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareWinogradConv(const ConvShape& s, const Activation& activation,
                                                      const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa);
  const Cut cut = BestCut(s, problem.isa);
  if (problem.inputs[0].layout != blocked || problem.outputs[0].layout != blocked ||
      (s.has_residual && problem.inputs[3].layout != blocked))
    return Invalid("layouts do not fit");
  if (problem.inputs[1].constant.size() != static_cast<size_t>(PackedFloats(s, cut, problem.isa)) * sizeof(float))
    return Invalid("packed weights have another size");
  if (problem.scratch_bytes < cut.ScratchBytes()) return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<WinogradExecutor>(s, activation, problem));
}

}  // namespace npustream::kernels
