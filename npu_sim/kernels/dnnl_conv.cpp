#include "npu_sim/kernels/dnnl_conv.h"

#include <cstring>

#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;

class DnnlConvExecutor final : public Executor {
 public:
  DnnlConvExecutor(const Problem& problem, const dnnl::primitive_desc& chosen, const ConvShape& s,
                   const Activation& after)
      : call_(dnnl::primitive(chosen), Arguments(chosen, s)),
        has_bias_(s.has_bias),
        residual_bytes_(s.has_residual ? problem.outputs[0].Bytes() : 0),
        after_(after),
        activate_(SimdFor(problem.isa).unary[static_cast<int>(after.op)]),
        count_(StoredCount(problem.outputs[0])),
        dims_(problem.outputs[0].dims),
        layout_(problem.outputs[0].layout) {}

  Status Run(const kernels::Arguments& a) override {
    float* const y = Out<float>(a);
    if (residual_bytes_ > 0 && a.inputs[3] != a.outputs[0]) std::memcpy(a.outputs[0], a.inputs[3], residual_bytes_);
    call_.SetAddress(0, a.inputs[0]);
    call_.SetAddress(1, a.inputs[1]);
    call_.SetAddress(2, y);
    call_.SetAddress(3, a.scratch);
    if (has_bias_) call_.SetAddress(4, a.inputs[2]);
    NPUSTREAM_RETURN_IF_ERROR(call_.Execute());
    if (after_.op == UnaryOp::kIdentity) return {};
    activate_(y, y, count_, after_.a, after_.b);
    if (!KeepsZero(after_)) ClearPadding(y, dims_, layout_);
    return {};
  }

 private:
  static std::vector<std::pair<int, memory::desc>> Arguments(const dnnl::primitive_desc& d, const ConvShape& s) {
    std::vector<std::pair<int, memory::desc>> arguments = {{DNNL_ARG_SRC, d.src_desc()},
                                                           {DNNL_ARG_WEIGHTS, d.weights_desc()},
                                                           {DNNL_ARG_DST, d.dst_desc()},
                                                           {DNNL_ARG_SCRATCHPAD, d.scratchpad_desc()}};
    if (s.has_bias) arguments.emplace_back(DNNL_ARG_BIAS, d.weights_desc(1));  // where oneDNN keeps the bias
    return arguments;
  }

  DnnlCall call_;
  bool has_bias_;
  size_t residual_bytes_;
  Activation after_;
  SimdTable::Unary activate_;
  size_t count_;
  om::Dims dims_;
  om::Layout layout_;
};

}  // namespace

memory::dims WeightDims(const ConvShape& s) {
  if (s.groups == 1) return {s.oc, s.ic, s.kh, s.kw};
  return {s.groups, s.oc / s.groups, s.ic / s.groups, s.kh, s.kw};
}

Choice ChooseDnnlConv(const Problem& problem, const dnnl::primitive_desc& chosen, om::Layout source, om::Layout target,
                      const memory::desc& onnx_weights) {
  Choice choice = PlainChoice(problem, std::string("oneDNN ") + chosen.impl_info_str());
  choice.inputs[0] = source;
  choice.outputs[0] = target;
  choice.packed[1] = PackConstant(problem.inputs[1].constant, onnx_weights, chosen.weights_desc());
  choice.scratch_bytes = chosen.scratchpad_desc().get_size();
  choice.on_dnnl = true;
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareDnnlConv(const Problem& problem, const dnnl::primitive_desc& chosen,
                                                  const ConvShape& s, const Activation& after) {
  if (problem.inputs[1].constant.size() != chosen.weights_desc().get_size())
    return Invalid("packed weights have another size");
  if (problem.scratch_bytes < chosen.scratchpad_desc().get_size()) return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<DnnlConvExecutor>(problem, chosen, s, after));
}

}  // namespace npustream::kernels
