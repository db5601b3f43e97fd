// Conv: quantised ones on our kernels for bytes (byte_conv.h), others on our own blocked kernels where they apply
// (blocked_conv.h), else on oneDNN with bias and cheap activations fused and the others right after it.
#include "npu_sim/kernels/bf16_conv.h"
#include "npu_sim/kernels/blocked_conv.h"
#include "npu_sim/kernels/byte_conv.h"
#include "npu_sim/kernels/dnnl_conv.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

// Activations which oneDNN fuses at no cost; the others take its exponential, which is slower than ours.
bool IsFusedByDnnl(UnaryOp op) { return op == UnaryOp::kRelu || op == UnaryOp::kLeakyRelu || op == UnaryOp::kClip; }

dnnl::primitive_attr Attributes(const ConvShape& s, const Activation& activation) {
  dnnl::post_ops post;
  if (s.has_residual) post.append_sum(1.0f);
  switch (activation.op) {
    case UnaryOp::kRelu: dnnl_version::AppendActivation(post, dnnl::algorithm::eltwise_relu, 0, 0); break;
    case UnaryOp::kLeakyRelu:
      dnnl_version::AppendActivation(post, dnnl::algorithm::eltwise_relu, activation.a, 0);
      break;
    case UnaryOp::kClip:
      dnnl_version::AppendActivation(post, dnnl::algorithm::eltwise_clip, activation.a, activation.b);
      break;
    default: break;
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post);
  return attributes;
}

using Descriptor = dnnl::convolution_forward::primitive_desc;

Descriptor Describe(const ConvShape& s, const Activation& activation, Tag source, Tag target) {
  return DescribeConv<dnnl::convolution_forward>(s, dnnl::algorithm::convolution_direct, Attributes(s, activation),
                                                 source, target);
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

class Conv final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConv(problem));
    if (IsByteConv(problem)) return CheckByteConv(s, activation, problem);
    if (!IsAbsent(problem, 4) || !IsAbsent(problem, 5)) return Invalid("a table or an addend for real numbers");
    return RequireFloat(problem);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConv(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (IsByteConv(problem)) return ChooseByteConv(s, activation, problem);
    if (CanBf16Conv(s, problem)) return ChooseBf16Conv(s, problem);
    if (CanBlockedConv(s, problem)) return ChooseBlockedConv(s, problem);
    const memory::desc onnx_weights(WeightDims(s), memory::data_type::f32, s.groups == 1 ? Tag::oihw : Tag::goihw);
    return Flatten(CatchDnnl([&]() -> Result<Choice> {
      NPUSTREAM_ASSIGN_OR_RETURN(const Layouts layouts, ChooseLayouts(s, activation, problem.isa));
      const om::Layout source = layouts.source, target = layouts.target;
      const Descriptor chosen = Describe(s, activation, TagOf(source), TagOf(target));
      Choice choice = ChooseDnnlConv(problem, chosen, source, target, onnx_weights);
      if (s.has_residual) {
        choice.inputs[3] = target;
        choice.in_place_input = 3;
      }
      return choice;
    }));
  }

  bool PacksInput(size_t input) const override { return input == 1; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConv(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (IsByteConv(problem)) return PrepareByteConv(s, activation, problem);
    if (CanBf16Conv(s, problem)) return PrepareBf16Conv(s, activation, problem);
    if (CanBlockedConv(s, problem)) return PrepareBlockedConv(s, activation, problem);
    if (s.has_residual && problem.inputs[3].layout != problem.outputs[0].layout)
      return Invalid("the residual has another layout");
    return Flatten(CatchDnnl([&]() -> Result<std::unique_ptr<Executor>> {
      const Descriptor chosen =
          Describe(s, activation, TagOf(problem.inputs[0].layout), TagOf(problem.outputs[0].layout));
      return PrepareDnnlConv(problem, chosen, s, IsFusedByDnnl(activation.op) ? Activation{} : activation);
    }));
  }
};

}  // namespace

const Kernel* ConvKernel() {
  static const Conv kernel;
  return &kernel;
}

}  // namespace npustream::kernels
