#include "npu_sim/kernels/bf16_conv.h"

#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/amx_conv.h"
#include "npu_sim/kernels/blocked_conv.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kElement = 2, kBlock = AmxCut::kBlock;
constexpr size_t kSumBytes = 2 * kMostBlockPixels * kBlock * sizeof(float);
// Widened source rows of a depthwise convolution, beside which a row of sums fits the first-level cache.
constexpr int64_t kLineBytes = 32 * 1024;

bool IsBf16(const TensorInfo& tensor) { return tensor.type == om::DataType::kBFloat16; }

// A picture is read as it is; all others are blocked.
om::Layout SourceLayout(const ConvShape& s, const TensorInfo& x, Isa isa) {
  return x.layout == om::Layout::kPlain && !IsBf16(x) && s.groups == 1 && s.ic <= 4 ? x.layout : BlockedLayout(isa);
}

// The packed constant: weights, then a bias for every result channel.
size_t PackedBytes(const ConvShape& s, const AmxCut& cut) {
  return static_cast<size_t>(cut.Weights(s)) + static_cast<size_t>(cut.Channels(s)) * sizeof(float);
}

// The end of a convolution: residual, activation, and rounding where the result is bfloat16.
class Ending {
 public:
  Ending(const ConvShape& s, const Activation& activation, const Problem& problem)
      : function_(SimdFor(problem.isa).bf16_finish[static_cast<int>(activation.op)]),
        residual_element_(s.has_residual ? om::SizeOf(problem.inputs[3].type) : 0),
        element_(om::SizeOf(problem.outputs[0].type)),
        clear_padding_(!KeepsZero(activation)),
        dims_(problem.outputs[0].dims),
        layout_(problem.outputs[0].layout) {
    finish_.a = activation.a, finish_.b = activation.b;
    finish_.bf16_y = IsBf16(problem.outputs[0]);
    finish_.bf16_residual = s.has_residual && IsBf16(problem.inputs[3]);
    finish_.y_group_stride = s.oh * s.ow * kBlock;
  }

  // `at`: element of the result that the first sum belongs to.
  void Run(const Arguments& a, int64_t at, int64_t groups, int64_t pixels, const float* sums,
           int64_t sum_group_stride) const {
    RealFinish f = finish_;
    f.sums = sums, f.sum_group_stride = sum_group_stride;
    f.groups = groups, f.pixels = pixels;
    f.y = a.outputs[0] + at * static_cast<int64_t>(element_);
    if (residual_element_ > 0) f.residual = a.inputs[3] + at * static_cast<int64_t>(residual_element_);
    function_(f);
  }
  void Finish(const Arguments& a) const {
    if (clear_padding_) ClearPadding(a.outputs[0], element_, dims_, layout_);
  }

 private:
  void (*function_)(const RealFinish&);
  RealFinish finish_ = {};
  size_t residual_element_, element_;
  bool clear_padding_;
  om::Dims dims_;
  om::Layout layout_;
};

// Hands tiles of sums to the ending.
struct Sink {
  const Ending& ending;
  const Arguments& a;
  int64_t first;  // element of the result where the convolution group begins

  void EndTile(int64_t at, int64_t, int64_t groups, int64_t width, const float* sums, int64_t sum_group_stride) const {
    ending.Run(a, first + at, groups, width, sums, sum_group_stride);
  }
  void EndRow(int64_t, int64_t, int64_t, int64_t) const {}
};

// `Source`: float, which is rounded on the way to the tiles, or uint16_t for bfloat16.
template <typename Source>
class TiledExecutor final : public Executor {
 public:
  TiledExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s),
        driver_(s, problem.inputs[0].layout, SimdFor(problem.isa), SimdFor(problem.isa).bf16_block, Source{}),
        ending_(s, activation, problem) {}

  Status Run(const Arguments& a) override {
    const AmxCut& cut = driver_.cut();
    const int64_t in_step = cut.in_groups * cut.in_block * s_.ih * s_.iw, channels = cut.out_groups * kBlock,
                  out_step = channels * s_.oh * s_.ow, weight_step = cut.Weights(s_) / s_.groups;
    const auto* bias = reinterpret_cast<const float*>(a.inputs[1] + cut.Weights(s_));
    for (int64_t i = 0; i < s_.n * s_.groups; ++i) {
      const int64_t g = i % s_.groups;
      Sink sink{ending_, a, i * out_step};
      driver_.Run({In<Source>(a, 0) + i * in_step, a.inputs[1] + g * weight_step, bias + g * channels},
                  reinterpret_cast<float*>(a.scratch), a.scratch + kSumBytes, sink);
    }
    ending_.Finish(a);
    return {};
  }

 private:
  ConvShape s_;
  AmxDriver<Source, float> driver_;
  Ending ending_;
};

// The scratch buffer of a depthwise convolution: a row of sums, and widened source rows.
struct DepthwiseScratch {
  int64_t span, lines;  // source rows under a window, and as many as are kept
  int64_t sums, bytes;

  explicit DepthwiseScratch(const ConvShape& s)
      : span((s.kh - 1) * s.dilation_h + 1),
        lines(std::min(std::max(span, kLineBytes / (s.iw * kBlock * static_cast<int64_t>(sizeof(float)))), s.ih)),
        sums(s.ow * kBlock * static_cast<int64_t>(sizeof(float))),
        bytes(sums + lines * s.iw * kBlock * static_cast<int64_t>(sizeof(float))) {}
};

// Multiplies in float32: there is no instruction that would sum bfloat16 products channel by channel.
class DepthwiseExecutor final : public Executor {
 public:
  DepthwiseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s),
        scratch_(s),
        simd_(&SimdFor(problem.isa)),
        bf16_source_(IsBf16(problem.inputs[0])),
        ending_(s, activation, problem) {}

  Status Run(const Arguments& a) override {
    const int64_t groups = GroupsOf(s_.oc, kBlock);
    for (int64_t i = 0; i < s_.n * groups; ++i) RunGroup(a, i, i % groups);
    ending_.Finish(a);
    return {};
  }

 private:
  int64_t LineFloats() const { return s_.iw * kBlock; }

  void RunGroup(const Arguments& a, int64_t i, int64_t group) const {
    auto* const sums = reinterpret_cast<float*>(a.scratch);
    auto* const lines = reinterpret_cast<float*>(a.scratch + scratch_.sums);
    const int64_t in_at = i * s_.ih * LineFloats();
    DepthwiseRow row = RowsOfGroup(s_, In<float>(a, 1), group, kBlock);
    row.y = sums;
    int64_t first = 0, end = 0;  // source rows that are widened
    for (int64_t oh = 0; oh < s_.oh; ++oh) {
      const int64_t top = PlaceWindow(s_, oh, row);
      const float* x = In<float>(a, 0) + in_at;
      if (bf16_source_) {
        Widen(In<uint16_t>(a, 0) + in_at, std::max<int64_t>(top, 0), std::min(top + scratch_.span, s_.ih), lines, first, end);
        x = lines - first * LineFloats();
      }
      row.x = x + (top * s_.iw - s_.pad_left) * kBlock;
      simd_->depthwise_row(row);
      ending_.Run(a, (i * s_.oh + oh) * s_.ow * kBlock, 1, s_.ow, sums, 0);
    }
  }

  // Has source rows [from, to) among those in `lines`, which are [first, end).
  void Widen(const uint16_t* x, int64_t from, int64_t to, float* lines, int64_t& first, int64_t& end) const {
    if (from >= to) return;
    if (from >= end) {
      first = end = from;
    } else if (to - first > scratch_.lines) {
      std::memmove(lines, lines + (from - first) * LineFloats(),
                   static_cast<size_t>((end - from) * LineFloats()) * sizeof(float));
      first = from;
    }
    if (to <= end) return;
    const int64_t last = std::min(std::max(to, first + scratch_.lines), s_.ih);
    simd_->from_bf16(x + end * LineFloats(), lines + (end - first) * LineFloats(),
                     static_cast<size_t>((last - end) * LineFloats()));
    end = last;
  }

  ConvShape s_;
  DepthwiseScratch scratch_;
  const SimdTable* simd_;
  bool bf16_source_;
  Ending ending_;
};

size_t ScratchBytes(const ConvShape& s, om::Layout source) {
  if (s.IsDepthwise()) return static_cast<size_t>(DepthwiseScratch(s).bytes);
  return kSumBytes + static_cast<size_t>(AmxCut(s, source, kElement).Scratch());
}

om::Bytes PackDense(const ConvShape& s, const AmxCut& cut, const Problem& problem) {
  om::Bytes packed(PackedBytes(s, cut));
  PackAmx(s, cut, reinterpret_cast<const float*>(problem.inputs[1].constant.data()),
          reinterpret_cast<uint16_t*>(packed.data()));
  auto* const biases = reinterpret_cast<float*>(packed.data() + cut.Weights(s));
  const int64_t oc = s.oc / s.groups;
  for (int64_t c = 0; s.has_bias && c < s.oc; ++c) {
    biases[c / oc * cut.out_groups * kBlock + c % oc] =
        reinterpret_cast<const float*>(problem.inputs[2].constant.data())[c];
  }
  return packed;
}

}  // namespace

bool CanBf16Conv(const ConvShape& s, const Problem& problem) {
  const auto activation = FusedActivation(*problem.node);
  const bool wanted = problem.isa == Isa::kAmx && om::GetString(*problem.node, kComputeType, "") == kComputeBf16 &&
                      CanBlockedConv(s, problem) && GroupsFillBlocks(s, problem.isa) && activation.ok() &&
                      SimdFor(problem.isa).bf16_finish[static_cast<int>(activation->op)] != nullptr;
  if (!wanted) return false;
  const om::Layout source = SourceLayout(s, problem.inputs[0], problem.isa);
  const bool fits = s.IsDepthwise() || AmxCut(s, source, kElement).Weights(s) <= kMostScratch;
  return fits && ScratchBytes(s, source) <= static_cast<size_t>(kMostScratch);
}

bool HasBf16Tensors(const Problem& problem) {
  return IsBf16(problem.inputs[0]) || IsBf16(problem.outputs[0]) || (!IsAbsent(problem, 3) && IsBf16(problem.inputs[3]));
}

Result<Choice> ChooseBf16Conv(const ConvShape& s, const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa), source = SourceLayout(s, problem.inputs[0], problem.isa);
  Choice choice = PlainChoice(problem, s.IsDepthwise() ? "depthwise bfloat16 amx" : "bfloat16 amx");
  choice.inputs[0] = source;
  choice.outputs[0] = blocked;
  if (s.has_residual) {
    choice.inputs[3] = blocked;
    choice.in_place_input = 3;
  }
  choice.packed[1] = s.IsDepthwise() ? PackDepthwise(s, problem) : PackDense(s, AmxCut(s, source, kElement), problem);
  choice.scratch_bytes = ScratchBytes(s, source);
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareBf16Conv(const ConvShape& s, const Activation& activation,
                                                  const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa), source = problem.inputs[0].layout;
  const bool layouts = SourceLayout(s, problem.inputs[0], problem.isa) == source &&
                       problem.outputs[0].layout == blocked &&
                       (!s.has_residual || problem.inputs[3].layout == blocked);
  if (!layouts) return Invalid("layouts do not fit");
  const size_t packed = s.IsDepthwise() ? PackedDepthwiseBytes(s, problem.isa) : PackedBytes(s, AmxCut(s, source, kElement));
  if (problem.inputs[1].constant.size() != packed) return Invalid("packed weights have another size");
  if (problem.scratch_bytes < ScratchBytes(s, source)) return Invalid("the scratch buffer is too small");
  using Made = std::unique_ptr<Executor>;
  if (s.IsDepthwise()) return Made(std::make_unique<DepthwiseExecutor>(s, activation, problem));
  if (IsBf16(problem.inputs[0])) return Made(std::make_unique<TiledExecutor<uint16_t>>(s, activation, problem));
  return Made(std::make_unique<TiledExecutor<float>>(s, activation, problem));
}

}  // namespace npustream::kernels
