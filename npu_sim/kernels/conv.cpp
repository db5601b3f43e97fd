// Conv: on our own blocked kernels where they apply (blocked_conv.h), else on oneDNN with bias and cheap activations
// fused and the others right after it.
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/blocked_conv.h"
#include "npu_sim/kernels/conv_shape.h"
#include "npu_sim/kernels/dnnl_support.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;

// Activations which oneDNN fuses at no cost; the others take its exponential, which is slower than ours.
bool IsFusedByDnnl(UnaryOp op) { return op == UnaryOp::kRelu || op == UnaryOp::kLeakyRelu || op == UnaryOp::kClip; }

dnnl::primitive_attr Attributes(const ConvShape& s, const Activation& activation) {
  dnnl::post_ops post;
  if (s.has_residual) post.append_sum(1.0f);
  switch (activation.op) {
    case UnaryOp::kRelu: post.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0); break;
    case UnaryOp::kLeakyRelu: post.append_eltwise(1, dnnl::algorithm::eltwise_relu, activation.a, 0); break;
    case UnaryOp::kClip: post.append_eltwise(1, dnnl::algorithm::eltwise_clip, activation.a, activation.b); break;
    default: break;
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

memory::dims WeightDims(const ConvShape& s) {
  if (s.groups == 1) return {s.oc, s.ic, s.kh, s.kw};
  return {s.groups, s.oc / s.groups, s.ic / s.groups, s.kh, s.kw};
}

using Descriptor = dnnl::convolution_forward::primitive_desc;

Descriptor Describe(const ConvShape& s, const Activation& activation, Tag source, Tag target) {
  const memory::desc x({s.n, s.ic, s.ih, s.iw}, kF32, source), y({s.n, s.oc, s.oh, s.ow}, kF32, target);
  const memory::desc w(WeightDims(s), kF32, Tag::any), b({s.oc}, kF32, Tag::x);
  const memory::dims strides = {s.stride_h, s.stride_w}, dilations = {s.dilation_h - 1, s.dilation_w - 1};
  const memory::dims begin = {s.pad_top, s.pad_left}, end = {s.pad_bottom, s.pad_right};
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto desc = s.has_bias
                        ? dnnl::convolution_forward::desc(kind, algorithm, x, w, b, y, strides, dilations, begin, end)
                        : dnnl::convolution_forward::desc(kind, algorithm, x, w, y, strides, dilations, begin, end);
  return Descriptor(desc, Attributes(s, activation), CpuEngine());
}

bool IsReference(const Descriptor& descriptor) {
  return std::string_view(descriptor.impl_info_str()).find("ref") != std::string_view::npos;
}

struct Layouts {
  om::Layout source, target;
};

// The first pair of layouts for which oneDNN has generated code. Channels last, which it would pick if it were free
// to, is never offered: groups of channels make joins free and suit our own kernels.
Result<Layouts> ChooseLayouts(const ConvShape& s, const Activation& activation, Isa isa) {
  const om::Layout blocked = BlockedLayout(isa), plain = om::Layout::kPlain;
  std::optional<Layouts> fallback;
  std::string names;
  for (const Layouts layouts : {Layouts{blocked, blocked}, Layouts{plain, blocked}, Layouts{plain, plain}}) {
    try {
      const Descriptor descriptor = Describe(s, activation, TagOf(layouts.source), TagOf(layouts.target));
      const std::string_view name = descriptor.impl_info_str();
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (IsReference(descriptor)) continue;
      if (name.find("gemm") == std::string_view::npos) return layouts;
      if (!fallback) fallback = layouts;
    } catch (const dnnl::error&) {
      continue;  // this pair is not implemented at all
    }
  }
  if (fallback) return *fallback;
  return Unsupported("oneDNN has only its reference implementation for this convolution ({})", names);
}

class ConvExecutor final : public Executor {
 public:
  ConvExecutor(const Descriptor& descriptor, const ConvShape& s, const Activation& activation, const Problem& problem)
      : call_(dnnl::convolution_forward(descriptor), Arguments(descriptor, s)),
        has_bias_(s.has_bias),
        residual_bytes_(s.has_residual ? problem.outputs[0].Bytes() : 0) {
    if (IsFusedByDnnl(activation.op) || activation.op == UnaryOp::kIdentity) return;
    activation_ = activation;
    activate_ = SimdFor(problem.isa).unary[static_cast<int>(activation.op)];
    count_ = StoredCount(problem.outputs[0]);
    clear_padding_ = !KeepsZero(activation);
    dims_ = problem.outputs[0].dims;
    layout_ = problem.outputs[0].layout;
  }

  Status Run(const kernels::Arguments& a) override {
    float* const y = Out<float>(a);
    if (residual_bytes_ > 0 && a.inputs[3] != a.outputs[0]) std::memcpy(a.outputs[0], a.inputs[3], residual_bytes_);
    call_.SetAddress(0, a.inputs[0]);
    call_.SetAddress(1, a.inputs[1]);
    call_.SetAddress(2, y);
    call_.SetAddress(3, a.scratch);
    if (has_bias_) call_.SetAddress(4, a.inputs[2]);
    NPUSTREAM_RETURN_IF_ERROR(call_.Execute());
    if (activate_) {
      activate_(y, y, count_, activation_.a, activation_.b);
      if (clear_padding_) ClearPadding(y, dims_, layout_);
    }
    return {};
  }

 private:
  static std::vector<std::pair<int, memory::desc>> Arguments(const Descriptor& d, const ConvShape& s) {
    std::vector<std::pair<int, memory::desc>> arguments = {{DNNL_ARG_SRC, d.src_desc()},
                                                           {DNNL_ARG_WEIGHTS, d.weights_desc()},
                                                           {DNNL_ARG_DST, d.dst_desc()},
                                                           {DNNL_ARG_SCRATCHPAD, d.scratchpad_desc()}};
    if (s.has_bias) arguments.emplace_back(DNNL_ARG_BIAS, d.bias_desc());
    return arguments;
  }

  DnnlCall call_;
  bool has_bias_;
  size_t residual_bytes_;
  SimdTable::Unary activate_ = nullptr;
  Activation activation_;
  size_t count_ = 0;
  bool clear_padding_ = false;
  om::Dims dims_;
  om::Layout layout_ = om::Layout::kPlain;
};

class Conv final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(FusedActivation(*problem.node).status());
    return ReadConv(problem).status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConv(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (CanBlockedConv(s, problem)) return ChooseBlockedConv(s, problem);
    const memory::desc plain(WeightDims(s), kF32, s.groups == 1 ? Tag::oihw : Tag::goihw);
    return Flatten(CatchDnnl([&]() -> Result<Choice> {
      NPUSTREAM_ASSIGN_OR_RETURN(const Layouts layouts, ChooseLayouts(s, activation, problem.isa));
      const om::Layout source = layouts.source, target = layouts.target;
      const Descriptor chosen = Describe(s, activation, TagOf(source), TagOf(target));
      Choice choice = PlainChoice(problem, std::string("oneDNN ") + chosen.impl_info_str());
      choice.inputs[0] = source;
      choice.outputs[0] = target;
      if (s.has_residual) {
        choice.inputs[3] = target;
        choice.in_place_input = 3;
      }
      choice.packed[1] = PackConstant(problem.inputs[1].constant, plain, chosen.weights_desc());
      choice.scratch_bytes = chosen.scratchpad_desc().get_size();
      return choice;
    }));
  }

  bool PacksInput(size_t input) const override { return input == 1; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConv(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (CanBlockedConv(s, problem)) return PrepareBlockedConv(s, activation, problem);
    if (s.has_residual && problem.inputs[3].layout != problem.outputs[0].layout)
      return Invalid("the residual has another layout");
    return Flatten(CatchDnnl([&]() -> Result<std::unique_ptr<Executor>> {
      const Descriptor chosen =
          Describe(s, activation, TagOf(problem.inputs[0].layout), TagOf(problem.outputs[0].layout));
      if (problem.inputs[1].constant.size() != chosen.weights_desc().get_size())
        return Invalid("packed weights have another size");
      if (problem.scratch_bytes < chosen.scratchpad_desc().get_size())
        return Invalid("the scratch buffer is too small");
      return std::unique_ptr<Executor>(std::make_unique<ConvExecutor>(chosen, s, activation, problem));
    }));
  }
};

}  // namespace

const Kernel* ConvKernel() {
  static const Conv kernel;
  return &kernel;
}

}  // namespace npustream::kernels
