#include "npu_sim/kernels/tiled_conv_transpose.h"

#include <algorithm>

#include "npu_sim/kernels/conv_driver.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// One axis of the results `first`, `first` + stride, …: the weights `weight`, `weight` + stride, … meet the source, the
// last of them first, with so much padding around it.
struct PhaseAxis {
  int64_t first, count, weight, taps, pad_begin, pad_end;

  PhaseAxis(int64_t phase, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad)
      : first(phase),
        count((out - phase + stride - 1) / stride),
        weight((phase + pad) % stride),
        taps((kernel - weight + stride - 1) / stride),
        pad_begin(taps - 1 - (phase + pad) / stride),
        pad_end(count + taps - 1 - in - pad_begin) {}

  bool IsOrdinary() const { return count > 0 && taps > 0 && pad_begin >= 0 && pad_end >= 0; }
};

struct Phase {
  PhaseAxis rows, columns;

  ConvShape Shape(const ConvShape& s) const {
    ConvShape shape;
    shape.n = 1, shape.ic = s.ic, shape.ih = s.ih, shape.iw = s.iw;
    shape.oc = s.oc, shape.oh = rows.count, shape.ow = columns.count;
    shape.kh = rows.taps, shape.kw = columns.taps;
    shape.pad_top = rows.pad_begin, shape.pad_bottom = rows.pad_end;
    shape.pad_left = columns.pad_begin, shape.pad_right = columns.pad_end;
    return shape;
  }
};

std::vector<Phase> Phases(const ConvShape& s) {
  std::vector<Phase> phases;
  for (int64_t y = 0; y < s.stride_h; ++y) {
    for (int64_t x = 0; x < s.stride_w; ++x)
      phases.push_back({PhaseAxis(y, s.ih, s.oh, s.kh, s.stride_h, s.pad_top),
                        PhaseAxis(x, s.iw, s.ow, s.kw, s.stride_w, s.pad_left)});
  }
  return phases;
}

ConvCut CutPhase(const ConvShape& phase, Isa isa) { return CutConv(phase, BlockedLayout(isa), isa, 1, true); }

// Weights i, o, kh, kw of the whole as o, i, kh, kw of one phase.
std::vector<float> PhaseWeights(const ConvShape& s, const Phase& phase, const float* weights) {
  std::vector<float> result;
  for (int64_t o = 0; o < s.oc; ++o) {
    for (int64_t i = 0; i < s.ic; ++i) {
      for (int64_t h = phase.rows.taps - 1; h >= 0; --h) {
        for (int64_t w = phase.columns.taps - 1; w >= 0; --w)
          result.push_back(weights[((i * s.oc + o) * s.kh + phase.rows.weight + h * s.stride_h) * s.kw +
                                   phase.columns.weight + w * s.stride_w]);
      }
    }
  }
  return result;
}

int64_t PackedFloats(const ConvShape& s, Isa isa) {
  int64_t floats = 0;
  for (const Phase& phase : Phases(s)) floats += CutPhase(phase.Shape(s), isa).Weights(phase.Shape(s));
  return floats + GroupsOf(s.oc, om::BlockOf(BlockedLayout(isa))) * om::BlockOf(BlockedLayout(isa));
}

size_t ScratchBytes(const ConvShape& s, Isa isa) {
  int64_t most = 0;
  for (const Phase& phase : Phases(s)) {
    const ConvShape shape = phase.Shape(s);
    most = std::max(most, CutPhase(shape, isa).Scratch(shape));
  }
  return static_cast<size_t>(most) * sizeof(float);
}

// Puts the sums of a phase where they belong in the whole result.
class PhaseSink {
 public:
  PhaseSink(const ConvShape& s, const Phase& phase, int64_t block, float* y)
      : rows_(phase.rows.count),
        columns_(phase.columns.count),
        block_(block),
        plane_(s.oh * s.ow * block),
        row_step_(s.stride_h * s.ow * block),
        pixel_step_(s.stride_w * block),
        y_(y + (phase.rows.first * s.ow + phase.columns.first) * block) {}

  float* Target(int64_t at, int64_t) const {
    const int64_t pixel = at / block_, row = pixel / columns_;
    return y_ + row / rows_ * plane_ + row % rows_ * row_step_ + pixel % columns_ * pixel_step_;
  }
  int64_t GroupStride(int64_t) const { return plane_; }
  int64_t PixelStride() const { return pixel_step_; }
  const float* Residual(int64_t) const { return nullptr; }
  void EndTile(int64_t, int64_t, int64_t, int64_t, const float*) const {}
  void EndRow(int64_t, int64_t, int64_t, int64_t) const {}

 private:
  int64_t rows_, columns_, block_, plane_, row_step_, pixel_step_;
  float* y_;
};

class TiledExecutor final : public Executor {
 public:
  TiledExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s), block_(om::BlockOf(BlockedLayout(problem.isa))), phases_(Phases(s)), ending_(activation, problem) {
    for (const Phase& phase : phases_) {
      const ConvShape shape = phase.Shape(s);
      drivers_.emplace_back(shape, CutPhase(shape, problem.isa), SimdFor(problem.isa).conv, 0.0f);
      weights_.push_back(drivers_.back().cut().Weights(shape));
    }
  }

  Status Run(const Arguments& a) override {
    const int64_t in_step = GroupsOf(s_.ic, block_) * block_ * s_.ih * s_.iw,
                  out_step = GroupsOf(s_.oc, block_) * block_ * s_.oh * s_.ow;
    const float* bias = In<float>(a, 1);
    for (const int64_t weights : weights_) bias += weights;
    for (int64_t n = 0; n < s_.n; ++n) {
      float* const y = Out<float>(a) + n * out_step;
      const float* weights = In<float>(a, 1);
      for (size_t i = 0; i < phases_.size(); ++i) {
        PhaseSink sink(s_, phases_[i], block_, y);
        drivers_[i].Run({In<float>(a, 0) + n * in_step, weights, bias}, reinterpret_cast<float*>(a.scratch), sink);
        weights += weights_[i];
      }
      ending_.Activate(y, out_step);
    }
    ending_.Finish(Out<float>(a));
    return {};
  }

 private:
  ConvShape s_;
  int64_t block_;
  std::vector<Phase> phases_;
  std::vector<ConvDriver<float, float, float>> drivers_;
  std::vector<int64_t> weights_;  // floats of each phase
  RowActivation ending_;
};

// With windows that do not overlap, few result channels and a plain result: a pointwise convolution makes all results of a
// source pixel, which are then put where they belong.
class Squares {
 public:
  Squares(const ConvShape& s, Isa isa) : s_(s) {
    point_.n = 1, point_.ic = s.ic, point_.ih = s.ih, point_.iw = s.iw, point_.oh = s.ih, point_.ow = s.iw;
    point_.oc = s.oc * s.kh * s.kw;
    cut_ = CutConv(point_, BlockedLayout(isa), isa, 1);
    for (int64_t lane = 0; lane < point_.oc; ++lane) {
      const int64_t line = lane / s.kw;
      offsets_.push_back((line / s.kh * s.oh + line % s.kh) * s.ow + lane % s.kw);
    }
  }

  // Sums that wait for further source channels would need a whole picture's room.
  bool IsPossible(const Problem& problem) const {
    return s_.kh == s_.stride_h && s_.kw == s_.stride_w && s_.oh == s_.ih * s_.kh && s_.ow == s_.iw * s_.kw &&
           s_.pad_top == 0 && s_.pad_left == 0 && IsFewChannels(problem.outputs[0], problem.isa) &&
           cut_.chunk_groups == cut_.in_groups;
  }
  int64_t PackedFloats() const { return cut_.Weights(point_) + cut_.Channels(point_); }
  size_t ScratchBytes() const {
    return static_cast<size_t>(kMaxTileGroups * kMaxTilePixels * cut_.block) * sizeof(float);
  }
  const ConvShape& shape() const { return s_; }
  const ConvShape& point() const { return point_; }
  const ConvCut& cut() const { return cut_; }
  // Where each lane goes, from the upper left result of its source pixel on.
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  ConvShape s_, point_;
  ConvCut cut_;
  std::vector<int64_t> offsets_;
};

class SquareSink {
 public:
  SquareSink(const Squares& squares, const RowActivation& ending, float* sums, float* y)
      : squares_(squares), s_(squares.shape()), block_(squares.cut().block), ending_(ending), sums_(sums), y_(y) {}

  float* Target(int64_t, int64_t) const { return sums_; }
  int64_t GroupStride(int64_t width) const { return width * block_; }
  const float* Residual(int64_t) const { return nullptr; }
  void EndTile(int64_t at, int64_t group, int64_t groups, int64_t width, const float*) const {
    ending_.Activate(sums_, groups * width * block_);
    const int64_t first = at / block_ - group * s_.ih * s_.iw, lanes = s_.oc * s_.kh * s_.kw;
    for (int64_t g = 0; g < groups; ++g) {
      const float* from = sums_ + g * width * block_;
      const int64_t begin = (group + g) * block_, present = std::min(block_, lanes - begin);
      const int64_t* offsets = squares_.offsets().data() + begin;
      for (int64_t pixel = first; pixel < first + width; ++pixel, from += block_) {
        float* const corner = y_ + pixel / s_.iw * s_.kh * s_.ow + pixel % s_.iw * s_.kw;
        for (int64_t lane = 0; lane < present; ++lane) corner[offsets[lane]] = from[lane];
      }
    }
  }
  void EndRow(int64_t, int64_t, int64_t, int64_t) const {}

 private:
  const Squares& squares_;
  const ConvShape& s_;
  int64_t block_;
  const RowActivation& ending_;
  float* sums_;
  float* y_;
};

class SquareExecutor final : public Executor {
 public:
  SquareExecutor(const Squares& squares, const Activation& activation, const Problem& problem)
      : squares_(squares),
        driver_(squares.point(), squares.cut(), SimdFor(problem.isa).conv, 0.0f),
        ending_(activation, problem) {}

  Status Run(const Arguments& a) override {
    const ConvShape& s = squares_.shape();
    const int64_t in_step = squares_.cut().in_groups * squares_.cut().block * s.ih * s.iw;
    for (int64_t n = 0; n < s.n; ++n) {
      SquareSink sink(squares_, ending_, reinterpret_cast<float*>(a.scratch), Out<float>(a) + n * s.oc * s.oh * s.ow);
      const float* weights = In<float>(a, 1);
      driver_.Run({In<float>(a, 0) + n * in_step, weights, weights + squares_.cut().Weights(squares_.point())}, nullptr,
                  sink);
    }
    return {};
  }

 private:
  Squares squares_;
  ConvDriver<float, float, float> driver_;
  RowActivation ending_;
};

Choice ChooseSquares(const Squares& squares, const Problem& problem) {
  const ConvShape& s = squares.shape();
  Choice choice = PlainChoice(problem, std::string("squares ") + ToString(problem.isa));
  choice.inputs[0] = BlockedLayout(problem.isa);
  // i, (o, kh, kw) as (o, kh, kw), i.
  const auto* weights = reinterpret_cast<const float*>(problem.inputs[1].constant.data());
  const int64_t lanes = squares.point().oc, square = s.kh * s.kw;
  std::vector<float> turned(static_cast<size_t>(lanes * s.ic));
  for (int64_t i = 0; i < s.ic; ++i) {
    for (int64_t lane = 0; lane < lanes; ++lane) turned[lane * s.ic + i] = weights[i * lanes + lane];
  }
  om::Bytes packed(static_cast<size_t>(squares.PackedFloats()) * sizeof(float));
  auto* to = reinterpret_cast<float*>(packed.data());
  PackDense(squares.point(), squares.cut(), turned.data(), to);
  to += squares.cut().Weights(squares.point());
  const auto* bias = reinterpret_cast<const float*>(problem.inputs.size() > 2 ? problem.inputs[2].constant.data() : nullptr);
  for (int64_t lane = 0; s.has_bias && lane < lanes; ++lane) to[lane] = bias[lane / square];
  choice.packed[1] = std::move(packed);
  choice.scratch_bytes = squares.ScratchBytes();
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareSquares(const Squares& squares, const Activation& activation,
                                                 const Problem& problem) {
  if (problem.inputs[0].layout != BlockedLayout(problem.isa) || problem.outputs[0].layout != om::Layout::kPlain)
    return Invalid("layouts do not fit");
  if (problem.inputs[1].constant.size() != static_cast<size_t>(squares.PackedFloats()) * sizeof(float))
    return Invalid("packed weights have another size");
  if (problem.scratch_bytes < squares.ScratchBytes()) return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<SquareExecutor>(squares, activation, problem));
}

}  // namespace

bool CanTileConvTranspose(const ConvShape& s, const Problem& problem) {
  constexpr int64_t kMostPhases = 64;
  if (problem.isa == Isa::kBaseline || (s.has_bias && !problem.inputs[2].is_constant)) return false;
  if (s.groups != 1 || s.has_residual || s.dilation_h != 1 || s.dilation_w != 1) return false;
  if (s.stride_h > kMostPhases / s.stride_w) return false;
  constexpr size_t kMostScratchBytes = 64 * 1024 * 1024;
  const std::vector<Phase> phases = Phases(s);
  const bool ordinary = std::all_of(phases.begin(), phases.end(), [](const Phase& phase) {
    return phase.rows.IsOrdinary() && phase.columns.IsOrdinary();
  });
  return ordinary && ScratchBytes(s, problem.isa) <= kMostScratchBytes;
}

Result<Choice> ChooseTiledConvTranspose(const ConvShape& s, const Problem& problem) {
  const Isa isa = problem.isa;
  if (const Squares squares(s, isa); squares.IsPossible(problem)) return ChooseSquares(squares, problem);
  Choice choice = PlainChoice(problem, std::string("tiled ") + ToString(isa));
  choice.inputs[0] = choice.outputs[0] = BlockedLayout(isa);
  om::Bytes packed(static_cast<size_t>(PackedFloats(s, isa)) * sizeof(float));
  auto* to = reinterpret_cast<float*>(packed.data());
  const auto* weights = reinterpret_cast<const float*>(problem.inputs[1].constant.data());
  for (const Phase& phase : Phases(s)) {
    const ConvShape shape = phase.Shape(s);
    const ConvCut cut = CutPhase(shape, isa);
    PackDense(shape, cut, PhaseWeights(s, phase, weights).data(), to);
    to += cut.Weights(shape);
  }
  if (s.has_bias) std::copy_n(reinterpret_cast<const float*>(problem.inputs[2].constant.data()), s.oc, to);
  choice.packed[1] = std::move(packed);
  choice.scratch_bytes = ScratchBytes(s, isa);
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareTiledConvTranspose(const ConvShape& s, const Activation& activation,
                                                            const Problem& problem) {
  if (const Squares squares(s, problem.isa); squares.IsPossible(problem))
    return PrepareSquares(squares, activation, problem);
  const om::Layout blocked = BlockedLayout(problem.isa);
  if (problem.inputs[0].layout != blocked || problem.outputs[0].layout != blocked)
    return Invalid("layouts do not fit");
  if (problem.inputs[1].constant.size() != static_cast<size_t>(PackedFloats(s, problem.isa)) * sizeof(float))
    return Invalid("packed weights have another size");
  if (problem.scratch_bytes < ScratchBytes(s, problem.isa)) return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<TiledExecutor>(s, activation, problem));
}

}  // namespace npustream::kernels
