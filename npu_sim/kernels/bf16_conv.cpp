#include "npu_sim/kernels/bf16_conv.h"

#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/amx_conv.h"
#include "npu_sim/kernels/blocked_conv.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kElement = 2;
constexpr size_t kSumBytes = 2 * kMostBlockPixels * AmxCut::kBlock * sizeof(float);

// A picture is read as it is; all others are blocked.
om::Layout SourceLayout(const ConvShape& s, om::Layout now, Isa isa) {
  return now == om::Layout::kPlain && s.groups == 1 && s.ic <= 4 ? now : BlockedLayout(isa);
}

// The packed constant: weights, then a bias for every result channel.
size_t PackedBytes(const ConvShape& s, const AmxCut& cut) {
  return static_cast<size_t>(cut.Weights(s)) + static_cast<size_t>(cut.Channels(s)) * sizeof(float);
}

// Turns sums into the result of one image's group.
class RealSink {
 public:
  RealSink(float* y, const float* residual, int64_t group_stride, const SimdTable& simd, const RowActivation& ending)
      : y_(y), residual_(residual), group_stride_(group_stride), add_(simd.binary[static_cast<int>(BinaryOp::kAdd)]), ending_(ending) {}

  void EndTile(int64_t at, int64_t, int64_t groups, int64_t width, const float* sums, int64_t sum_group_stride) const {
    const auto count = static_cast<size_t>(width * AmxCut::kBlock);
    for (int64_t g = 0; g < groups; ++g, at += group_stride_, sums += sum_group_stride) {
      if (residual_) {
        add_(sums, residual_ + at, y_ + at, count);
      } else {
        std::memcpy(y_ + at, sums, count * sizeof(float));
      }
      ending_.Activate(y_ + at, static_cast<int64_t>(count));
    }
  }
  void EndRow(int64_t, int64_t, int64_t, int64_t) const {}

 private:
  float* y_;
  const float* residual_;
  int64_t group_stride_;
  SimdTable::Binary add_;
  const RowActivation& ending_;
};

class Bf16Executor final : public Executor {
 public:
  Bf16Executor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s),
        simd_(&SimdFor(problem.isa)),
        driver_(s, problem.inputs[0].layout, *simd_, simd_->bf16_block, 0.0f),
        ending_(activation, problem) {}

  Status Run(const Arguments& a) override {
    const AmxCut& cut = driver_.cut();
    const int64_t in_step = cut.in_groups * cut.in_block * s_.ih * s_.iw, channels = cut.out_groups * AmxCut::kBlock,
                  out_step = channels * s_.oh * s_.ow, weight_step = cut.Weights(s_) / s_.groups;
    const auto* bias = reinterpret_cast<const float*>(a.inputs[1] + cut.Weights(s_));
    for (int64_t i = 0; i < s_.n * s_.groups; ++i) {
      const int64_t g = i % s_.groups;
      RealSink sink(Out<float>(a) + i * out_step, s_.has_residual ? In<float>(a, 3) + i * out_step : nullptr,
                    s_.oh * s_.ow * AmxCut::kBlock, *simd_, ending_);
      driver_.Run({In<float>(a, 0) + i * in_step, a.inputs[1] + g * weight_step, bias + g * channels},
                  reinterpret_cast<float*>(a.scratch), a.scratch + kSumBytes, sink);
    }
    ending_.Finish(Out<float>(a));
    return {};
  }

 private:
  ConvShape s_;
  const SimdTable* simd_;
  AmxDriver<float, float> driver_;
  RowActivation ending_;
};

}  // namespace

bool CanBf16Conv(const ConvShape& s, const Problem& problem) {
  const bool wanted = problem.isa == Isa::kAmx && !s.IsDepthwise() &&
                      om::GetString(*problem.node, kComputeType, "") == kComputeBf16 && CanBlockedConv(s, problem);
  if (!wanted) return false;
  const AmxCut cut(s, SourceLayout(s, problem.inputs[0].layout, problem.isa), kElement);
  return cut.Scratch() <= kMostScratch && cut.Weights(s) <= kMostScratch;
}

Result<Choice> ChooseBf16Conv(const ConvShape& s, const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa);
  const om::Layout source = SourceLayout(s, problem.inputs[0].layout, problem.isa);
  const AmxCut cut(s, source, kElement);
  Choice choice = PlainChoice(problem, "bfloat16 amx");
  choice.inputs[0] = source;
  choice.outputs[0] = blocked;
  if (s.has_residual) {
    choice.inputs[3] = blocked;
    choice.in_place_input = 3;
  }
  om::Bytes packed(PackedBytes(s, cut));
  PackAmx(s, cut, reinterpret_cast<const float*>(problem.inputs[1].constant.data()),
          reinterpret_cast<uint16_t*>(packed.data()));
  auto* const biases = reinterpret_cast<float*>(packed.data() + cut.Weights(s));
  const int64_t oc = s.oc / s.groups;
  for (int64_t c = 0; s.has_bias && c < s.oc; ++c) {
    biases[c / oc * cut.out_groups * AmxCut::kBlock + c % oc] =
        reinterpret_cast<const float*>(problem.inputs[2].constant.data())[c];
  }
  choice.packed[1] = std::move(packed);
  choice.scratch_bytes = kSumBytes + static_cast<size_t>(cut.Scratch());
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareBf16Conv(const ConvShape& s, const Activation& activation,
                                                  const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa), source = problem.inputs[0].layout;
  const bool layouts = SourceLayout(s, source, problem.isa) == source && problem.outputs[0].layout == blocked &&
                       (!s.has_residual || problem.inputs[3].layout == blocked);
  if (!layouts) return Invalid("layouts do not fit");
  const AmxCut cut(s, source, kElement);
  if (problem.inputs[1].constant.size() != PackedBytes(s, cut)) return Invalid("packed weights have another size");
  if (problem.scratch_bytes < kSumBytes + static_cast<size_t>(cut.Scratch()))
    return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<Bf16Executor>(s, activation, problem));
}

}  // namespace npustream::kernels
