// ConvTranspose on the tiles, or on oneDNN's deconvolution with the activation after it.
#include "npu_sim/kernels/dnnl_conv.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"
#include "npu_sim/kernels/tiled_conv_transpose.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;
using Descriptor = dnnl::deconvolution_forward::primitive_desc;

// ONNX stores ic, oc/groups, kh, kw; oneDNN's logical order is [groups,] oc, ic, kh, kw.
memory::desc OnnxWeights(const ConvShape& s) {
  const int64_t kernel = s.kh * s.kw, oc = s.oc / s.groups, ic = s.ic / s.groups;
  if (s.groups == 1) return memory::desc(WeightDims(s), kF32, memory::dims{kernel, oc * kernel, s.kw, 1});
  return memory::desc(WeightDims(s), kF32, memory::dims{ic * oc * kernel, kernel, oc * kernel, s.kw, 1});
}

Descriptor Describe(const ConvShape& s, Tag source, Tag target) {
  return DescribeConv<dnnl::deconvolution_forward>(s, dnnl::algorithm::deconvolution_direct, {}, source, target);
}

class ConvTranspose final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 3));
    NPUSTREAM_RETURN_IF_ERROR(FusedActivation(*problem.node).status());
    return ReadConvTranspose(problem).status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConvTranspose(problem));
    if (CanTileConvTranspose(s, problem)) return ChooseTiledConvTranspose(s, problem);
    return CatchDnnl([&] {
      const Descriptor free_choice = Describe(s, Tag::any, Tag::any);
      const om::Layout source = LayoutOf(free_choice.src_desc()).value_or(om::Layout::kPlain);
      const om::Layout target = LayoutOf(free_choice.dst_desc()).value_or(om::Layout::kPlain);
      const Descriptor chosen = Describe(s, TagOf(source), TagOf(target));
      return ChooseDnnlConv(problem, chosen, source, target, OnnxWeights(s));
    });
  }

  bool PacksInput(size_t input) const override { return input == 1; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const ConvShape s, ReadConvTranspose(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (CanTileConvTranspose(s, problem)) return PrepareTiledConvTranspose(s, activation, problem);
    return Flatten(CatchDnnl([&]() -> Result<std::unique_ptr<Executor>> {
      const Descriptor chosen = Describe(s, TagOf(problem.inputs[0].layout), TagOf(problem.outputs[0].layout));
      return PrepareDnnlConv(problem, chosen, s, activation);
    }));
  }
};

}  // namespace

const Kernel* ConvTransposeKernel() {
  static const ConvTranspose kernel;
  return &kernel;
}

}  // namespace npustream::kernels
