#include "npu_sim/kernels/blocked_conv.h"

#include <algorithm>

#include "npu_sim/kernels/conv_driver.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kDepth = 1;

// A plain source with few channels (a network's input) is read as it is; all others are blocked.
om::Layout SourceLayout(const ConvShape& s, om::Layout now, Isa isa) {
  const om::Layout blocked = BlockedLayout(isa);
  return now == om::Layout::kPlain && s.groups == 1 && s.ic < om::BlockOf(blocked) ? now : blocked;
}

// How many neighbouring convolution groups fill blocks of channels on both sides together; 0 when none do, or when too many
// would be needed: what connects channels of different groups is computed with weights of zero.
int64_t GroupsTogether(const ConvShape& s, Isa isa) {
  constexpr int64_t kMost = 16;
  if (s.groups == 1 || s.IsDepthwise()) return 1;
  const int64_t block = om::BlockOf(BlockedLayout(isa));
  for (int64_t count = 1; count <= std::min(s.groups, kMost); ++count) {
    if (s.groups % count == 0 && s.ic / s.groups * count % block == 0 && s.oc / s.groups * count % block == 0) return count;
  }
  return 0;
}

ConvShape WithGroupsTogether(ConvShape s, Isa isa) {
  s.groups /= GroupsTogether(s, isa);
  return s;
}

// The weights o, i, kh, kw of that convolution.
std::vector<float> WeightsTogether(const ConvShape& s, const float* weights, Isa isa) {
  const int64_t count = GroupsTogether(s, isa), window = s.ic / s.groups * s.kh * s.kw, outputs = s.oc / s.groups;
  std::vector<float> together(static_cast<size_t>(s.oc * window * count));
  for (int64_t o = 0; o < s.oc; ++o)
    std::copy_n(weights + o * window, window, together.data() + (o * count + o / outputs % count) * window);
  return together;
}

const float* Floats(std::span<const std::byte> bytes) { return reinterpret_cast<const float*>(bytes.data()); }

int64_t BiasFloats(const ConvShape& s, int64_t block) { return GroupsOf(s.oc, block) * block; }

size_t PackedDenseBytes(const ConvShape& s, const ConvCut& cut) {
  return static_cast<size_t>(cut.Weights(s) + BiasFloats(s, cut.block)) * sizeof(float);
}

class DepthwiseExecutor final : public Executor {
 public:
  DepthwiseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s),
        block_(om::BlockOf(BlockedLayout(problem.isa))),
        simd_(&SimdFor(problem.isa)),
        ending_(activation, problem) {}

  Status Run(const Arguments& a) override {
    const int64_t groups = GroupsOf(s_.oc, block_);
    const float* residual = s_.has_residual ? In<float>(a, 3) : nullptr;
    for (int64_t i = 0; i < s_.n * groups; ++i) {
      const int64_t in_at = i * s_.ih * s_.iw * block_, out_at = i * s_.oh * s_.ow * block_;
      DepthwiseRow row = RowsOfGroup(s_, In<float>(a, 1), i % groups, block_);
      for (int64_t oh = 0; oh < s_.oh; ++oh) {
        const int64_t top = PlaceWindow(s_, oh, row);
        row.x = In<float>(a, 0) + in_at + (top * s_.iw - s_.pad_left) * block_;
        row.y = Out<float>(a) + out_at + oh * s_.ow * block_;
        row.residual = residual ? residual + out_at + oh * s_.ow * block_ : nullptr;
        simd_->depthwise_row(row);
        ending_.Activate(row.y, s_.ow * block_);
      }
    }
    ending_.Finish(Out<float>(a));
    return {};
  }

 private:
  ConvShape s_;
  int64_t block_;
  const SimdTable* simd_;
  RowActivation ending_;
};

// Sums lie in the result; a row is activated while it is in the first-level cache.
class FloatSink {
 public:
  FloatSink(float* y, const float* residual, int64_t group_stride, int64_t block, const RowActivation& ending)
      : y_(y), residual_(residual), group_stride_(group_stride), block_(block), ending_(ending) {}

  float* Target(int64_t at, int64_t) const { return y_ + at; }
  int64_t GroupStride(int64_t) const { return group_stride_; }
  const float* Residual(int64_t at) const { return residual_ ? residual_ + at : nullptr; }
  void EndTile(int64_t, int64_t, int64_t, int64_t, const float*) const {}
  void EndRow(int64_t at, int64_t, int64_t groups, int64_t pixels) const {
    for (int64_t g = 0; g < groups; ++g) ending_.Activate(y_ + at + g * group_stride_, pixels * block_);
  }

 private:
  float* y_;
  const float* residual_;
  int64_t group_stride_, block_;
  const RowActivation& ending_;
};

class DenseExecutor final : public Executor {
 public:
  DenseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s),
        driver_(s, CutConv(s, problem.inputs[0].layout, problem.isa, kDepth), SimdFor(problem.isa).conv, 0.0f),
        ending_(activation, problem) {}

  Status Run(const Arguments& a) override {
    const ConvCut& cut = driver_.cut();
    const int64_t in_step = cut.in_groups * cut.in_block * s_.ih * s_.iw, channels = cut.out_groups * cut.block,
                  out_step = channels * s_.oh * s_.ow, weight_step = cut.Weights(s_) / s_.groups;
    for (int64_t i = 0; i < s_.n * s_.groups; ++i) {
      const int64_t g = i % s_.groups;
      FloatSink sink(Out<float>(a) + i * out_step, s_.has_residual ? In<float>(a, 3) + i * out_step : nullptr,
                     s_.oh * s_.ow * cut.block, cut.block, ending_);
      driver_.Run({In<float>(a, 0) + i * in_step, In<float>(a, 1) + g * weight_step,
                   In<float>(a, 1) + cut.Weights(s_) + g * channels},
                  reinterpret_cast<float*>(a.scratch), sink);
    }
    ending_.Finish(Out<float>(a));
    return {};
  }

 private:
  ConvShape s_;
  ConvDriver<float, float, float> driver_;
  RowActivation ending_;
};

}  // namespace

bool GroupsFillBlocks(const ConvShape& s, Isa isa) { return GroupsTogether(s, isa) == 1; }

bool CanBlockedConv(const ConvShape& s, const Problem& problem) {
  const Isa isa = problem.isa;
  if (isa == Isa::kBaseline || (s.has_bias && !problem.inputs[2].is_constant)) return false;
  // Offsets into a plain source are 32 bits wide.
  if (s.ic * s.ih > INT32_MAX / (s.iw + s.pad_left + s.pad_right)) return false;
  if (GroupsTogether(s, isa) == 0) return false;
  const ConvShape together = WithGroupsTogether(s, isa);
  const om::Layout source = SourceLayout(together, problem.inputs[0].layout, isa);
  return CutConv(together, source, isa, kDepth).Scratch(together) <= kMostScratch;
}

// [group of channels][kh][kw][lane], [channel]
om::Bytes PackDepthwise(const ConvShape& s, const Problem& problem) {
  const int64_t block = om::BlockOf(BlockedLayout(problem.isa)), window = s.kh * s.kw;
  om::Bytes packed(PackedDepthwiseBytes(s, problem.isa));
  auto* const to = reinterpret_cast<float*>(packed.data());
  const float* const plain = Floats(problem.inputs[1].constant);
  for (int64_t c = 0; c < s.oc; ++c) {
    for (int64_t k = 0; k < window; ++k) to[(c / block * window + k) * block + c % block] = plain[c * window + k];
  }
  if (s.has_bias) std::copy_n(Floats(problem.inputs[2].constant), s.oc, to + BiasFloats(s, block) * window);
  return packed;
}

size_t PackedDepthwiseBytes(const ConvShape& s, Isa isa) {
  return static_cast<size_t>(BiasFloats(s, om::BlockOf(BlockedLayout(isa))) * (s.kh * s.kw + 1)) * sizeof(float);
}

DepthwiseRow RowsOfGroup(const ConvShape& s, const float* packed, int64_t group, int64_t block) {
  const int64_t window = s.kh * s.kw;
  DepthwiseRow row = {};
  row.w = packed + group * window * block;
  row.bias = packed + BiasFloats(s, block) * window + group * block;
  row.pixels = s.ow, row.in_w = s.iw, row.kh = s.kh, row.kw = s.kw;
  row.stride_w = s.stride_w, row.dilation_w = s.dilation_w;
  row.x_column = -s.pad_left;
  row.x_kh_stride = s.dilation_h * s.iw * block;
  return row;
}

int64_t PlaceWindow(const ConvShape& s, int64_t oh, DepthwiseRow& row) {
  const int64_t top = oh * s.stride_h - s.pad_top;
  row.kh_first = std::clamp<int64_t>((-top + s.dilation_h - 1) / s.dilation_h, 0, s.kh);
  row.kh_last = std::clamp<int64_t>((s.ih - top + s.dilation_h - 1) / s.dilation_h, row.kh_first, s.kh);
  return top;
}

Result<Choice> ChooseBlockedConv(const ConvShape& given, const Problem& problem) {
  const ConvShape s = WithGroupsTogether(given, problem.isa);
  const om::Layout blocked = BlockedLayout(problem.isa);
  const om::Layout source = SourceLayout(s, problem.inputs[0].layout, problem.isa);
  const ConvCut cut = CutConv(s, source, problem.isa, kDepth);
  Choice choice =
      PlainChoice(problem, std::string(s.IsDepthwise() ? "depthwise " : "blocked ") + ToString(problem.isa));
  choice.inputs[0] = source;
  choice.outputs[0] = blocked;
  if (s.has_residual) {
    choice.inputs[3] = blocked;
    choice.in_place_input = 3;
  }
  if (s.IsDepthwise()) {
    choice.packed[1] = PackDepthwise(s, problem);
    return choice;
  }
  om::Bytes packed(PackedDenseBytes(s, cut));
  auto* to = reinterpret_cast<float*>(packed.data());
  PackDense(s, cut, WeightsTogether(given, Floats(problem.inputs[1].constant), problem.isa).data(), to);
  if (s.has_bias) std::copy_n(Floats(problem.inputs[2].constant), s.oc, to + cut.Weights(s));
  choice.packed[1] = std::move(packed);
  choice.scratch_bytes = static_cast<size_t>(cut.Scratch(s)) * sizeof(float);
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareBlockedConv(const ConvShape& given, const Activation& activation,
                                                     const Problem& problem) {
  const ConvShape s = WithGroupsTogether(given, problem.isa);
  const om::Layout blocked = BlockedLayout(problem.isa);
  const om::Layout source = problem.inputs[0].layout;
  const bool layouts = SourceLayout(s, source, problem.isa) == source && problem.outputs[0].layout == blocked &&
                       (!s.has_residual || problem.inputs[3].layout == blocked);
  if (!layouts) return Invalid("layouts do not fit");
  const bool depthwise = s.IsDepthwise();
  const ConvCut cut = CutConv(s, source, problem.isa, kDepth);
  const size_t packed = depthwise ? PackedDepthwiseBytes(s, problem.isa) : PackedDenseBytes(s, cut);
  if (problem.inputs[1].constant.size() != packed) return Invalid("packed weights have another size");
  if (depthwise) return std::unique_ptr<Executor>(std::make_unique<DepthwiseExecutor>(s, activation, problem));
  if (problem.scratch_bytes < static_cast<size_t>(cut.Scratch(s)) * sizeof(float))
    return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<DenseExecutor>(s, activation, problem));
}

}  // namespace npustream::kernels
