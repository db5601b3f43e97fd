#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"
#include "npu_sim/kernels/dnnl_support.h"

// What Conv and ConvTranspose on oneDNN share. Everything here may throw dnnl::error: call it inside CatchDnnl.
namespace npustream::kernels {

// The weights' dims in oneDNN's logical order: [groups,] oc / groups, ic / groups, kh, kw.
dnnl::memory::dims WeightDims(const ConvShape& s);

// The primitive for these layouts, with weights in a layout of oneDNN's choice. `Primitive` is
// dnnl::convolution_forward or dnnl::deconvolution_forward, `algorithm` one of its own.
template <typename Primitive>
typename Primitive::primitive_desc DescribeConv(const ConvShape& s, dnnl::algorithm algorithm,
                                                dnnl::primitive_attr attributes, dnnl::memory::format_tag source,
                                                dnnl::memory::format_tag target) {
  using dnnl::memory;
  constexpr auto kF32 = memory::data_type::f32;
  const memory::desc x({s.n, s.ic, s.ih, s.iw}, kF32, source), y({s.n, s.oc, s.oh, s.ow}, kF32, target);
  const memory::desc w(WeightDims(s), kF32, memory::format_tag::any), b({s.oc}, kF32, memory::format_tag::x);
  const memory::dims strides = {s.stride_h, s.stride_w}, dilations = {s.dilation_h - 1, s.dilation_w - 1};
  const memory::dims begin = {s.pad_top, s.pad_left}, end = {s.pad_bottom, s.pad_right};
  const auto kind = dnnl::prop_kind::forward_inference;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (s.has_bias) {
    return dnnl_version::Describe<Primitive>(CpuEngine(), attributes, kind, algorithm, x, w, b, y, strides, dilations,
                                             begin, end);
  }
  return dnnl_version::Describe<Primitive>(CpuEngine(), attributes, kind, algorithm, x, w, y, strides, dilations, begin,
                                           end);
}

// The choice that stands for `chosen`: its layouts, the scratch buffer, and the weights (`onnx_weights` describes the
// constant as the model has it) in its packing.
Choice ChooseDnnlConv(const Problem& problem, const dnnl::primitive_desc& chosen, om::Layout source, om::Layout target,
                      const dnnl::memory::desc& onnx_weights);

// Runs `chosen`, then `after`: the activation that is not fused into it. kInvalidArgument when the problem's packed
// weights or scratch buffer do not fit.
Result<std::unique_ptr<Executor>> PrepareDnnlConv(const Problem& problem, const dnnl::primitive_desc& chosen,
                                                  const ConvShape& s, const Activation& after);

}  // namespace npustream::kernels
