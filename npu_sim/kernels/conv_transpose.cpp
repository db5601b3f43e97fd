// ConvTranspose on oneDNN's deconvolution, with the activation after it.
#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"
#include "npu_sim/kernels/dnnl_support.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;
using Descriptor = dnnl::deconvolution_forward::primitive_desc;

memory::dims WeightDims(const ConvShape& s) {
  if (s.groups == 1) return {s.oc, s.ic, s.kh, s.kw};
  return {s.groups, s.oc / s.groups, s.ic / s.groups, s.kh, s.kw};
}

// ONNX stores ic, oc/groups, kh, kw; oneDNN's logical order is [groups,] oc, ic, kh, kw.
memory::desc OnnxWeights(const ConvShape& s) {
  const int64_t kernel = s.kh * s.kw, oc = s.oc / s.groups, ic = s.ic / s.groups;
  if (s.groups == 1) return memory::desc(WeightDims(s), kF32, memory::dims{kernel, oc * kernel, s.kw, 1});
  return memory::desc(WeightDims(s), kF32, memory::dims{ic * oc * kernel, kernel, oc * kernel, s.kw, 1});
}

Descriptor Describe(const ConvShape& s, Tag source, Tag target) {
  const memory::desc x({s.n, s.ic, s.ih, s.iw}, kF32, source), y({s.n, s.oc, s.oh, s.ow}, kF32, target);
  const memory::desc w(WeightDims(s), kF32, Tag::any), b({s.oc}, kF32, Tag::x);
  const memory::dims strides = {s.stride_h, s.stride_w}, dilations = {s.dilation_h - 1, s.dilation_w - 1};
  const memory::dims begin = {s.pad_top, s.pad_left}, end = {s.pad_bottom, s.pad_right};
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::deconvolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  using Desc = dnnl::deconvolution_forward::desc;
  const Desc desc = s.has_bias ? Desc(kind, algorithm, x, w, b, y, strides, dilations, begin, end)
                               : Desc(kind, algorithm, x, w, y, strides, dilations, begin, end);
  return Descriptor(desc, attributes, CpuEngine());
}

class DeconvExecutor final : public Executor {
 public:
  DeconvExecutor(const Descriptor& d, const ConvShape& s, const Activation& activation, const Problem& problem)
      : call_(dnnl::deconvolution_forward(d), Arguments(d, s)),
        has_bias_(s.has_bias),
        activation_(activation),
        activate_(SimdFor(problem.isa).unary[static_cast<int>(activation.op)]),
        count_(StoredCount(problem.outputs[0])),
        dims_(problem.outputs[0].dims),
        layout_(problem.outputs[0].layout) {}

  Status Run(const kernels::Arguments& a) override {
    call_.SetAddress(0, a.inputs[0]);
    call_.SetAddress(1, a.inputs[1]);
    call_.SetAddress(2, a.outputs[0]);
    call_.SetAddress(3, a.scratch);
    if (has_bias_) call_.SetAddress(4, a.inputs[2]);
    NPUSTREAM_RETURN_IF_ERROR(call_.Execute());
    if (activation_.op != UnaryOp::kIdentity) {
      activate_(Out<float>(a), Out<float>(a), count_, activation_.a, activation_.b);
      if (!KeepsZero(activation_)) ClearPadding(Out<float>(a), dims_, layout_);
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
  Activation activation_;
  SimdTable::Unary activate_;
  size_t count_;
  om::Dims dims_;
  om::Layout layout_;
};

class ConvTranspose final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 3));
    NPUSTREAM_RETURN_IF_ERROR(FusedActivation(*problem.node).status());
    return ReadConvTranspose(problem).status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConvTranspose(problem));
    return CatchDnnl([&] {
      const Descriptor free_choice = Describe(s, Tag::any, Tag::any);
      const om::Layout source = LayoutOf(free_choice.src_desc()).value_or(om::Layout::kPlain);
      const om::Layout target = LayoutOf(free_choice.dst_desc()).value_or(om::Layout::kPlain);
      const Descriptor chosen = Describe(s, TagOf(source), TagOf(target));
      Choice choice = PlainChoice(problem, std::string("oneDNN ") + chosen.impl_info_str());
      choice.inputs[0] = source;
      choice.outputs[0] = target;
      choice.packed[1] = PackConstant(problem.inputs[1].constant, OnnxWeights(s), chosen.weights_desc());
      choice.scratch_bytes = chosen.scratchpad_desc().get_size();
      return choice;
    });
  }

  bool PacksInput(size_t input) const override { return input == 1; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConvTranspose(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    return Flatten(CatchDnnl([&]() -> Result<std::unique_ptr<Executor>> {
      const Descriptor chosen = Describe(s, TagOf(problem.inputs[0].layout), TagOf(problem.outputs[0].layout));
      if (problem.inputs[1].constant.size() != chosen.weights_desc().get_size())
        return Invalid("packed weights have another size");
      if (problem.scratch_bytes < chosen.scratchpad_desc().get_size())
        return Invalid("the scratch buffer is too small");
      return std::unique_ptr<Executor>(std::make_unique<DeconvExecutor>(chosen, s, activation, problem));
    }));
  }
};

}  // namespace

const Kernel* ConvTransposeKernel() {
  static const ConvTranspose kernel;
  return &kernel;
}

}  // namespace npustream::kernels
