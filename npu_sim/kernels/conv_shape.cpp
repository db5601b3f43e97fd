#include "npu_sim/kernels/conv_shape.h"

#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kMaxSize = 1 << 20;

// Values of a spatial attribute for (height, width); `count` is 1 or 2 axes.
Result<std::vector<int64_t>> Spatial(const Problem& problem, const char* name, size_t axes, int64_t otherwise,
                                     int64_t low) {
  auto values = om::GetInts(*problem.node, name, std::vector<int64_t>(axes, otherwise));
  if (values.size() != axes) return Invalid("{} has {} entries, expected {}", name, values.size(), axes);
  for (const int64_t value : values) {
    if (value < low || value > kMaxSize) return Invalid("{} of {}", name, value);
  }
  return values;
}

// Fills sizes and the spatial attributes; weights have `w_out` and `w_in` in this order for Conv.
Status ReadCommon(const Problem& problem, ConvShape& s) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 7));
  const om::Dims &x = problem.inputs[0].dims, &w = problem.inputs[1].dims, &y = problem.outputs[0].dims;
  if ((x.size() != 3 && x.size() != 4) || w.size() != x.size() || y.size() != x.size()) {
    return Unsupported("convolution of a tensor of rank {}", x.size());
  }
  if (!problem.inputs[1].is_constant) return Unsupported("weights are not constant");
  for (const om::Dims* dims : {&x, &w, &y}) {
    for (const int64_t dim : *dims) {
      if (dim < 1 || dim > kMaxSize) return Invalid("size {}", dim);
    }
  }
  const size_t axes = x.size() - 2;
  NPUSTREAM_ASSIGN_OR_RETURN(const auto strides, Spatial(problem, "strides", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto dilations, Spatial(problem, "dilations", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto pads, Spatial(problem, "pads", axes * 2, 0, 0));
  s.n = x[0], s.ic = x[1], s.iw = x[x.size() - 1], s.ow = y[x.size() - 1], s.kw = w[x.size() - 1], s.oc = y[1];
  s.stride_w = strides.back(), s.dilation_w = dilations.back(), s.pad_left = pads[axes - 1], s.pad_right = pads.back();
  if (axes == 2) {
    s.ih = x[2], s.oh = y[2], s.kh = w[2];
    s.stride_h = strides[0], s.dilation_h = dilations[0], s.pad_top = pads[0], s.pad_bottom = pads[2];
  }
  s.groups = om::GetInt(*problem.node, "group", 1);
  if (y[0] != s.n || s.groups < 1 || s.ic % s.groups != 0 || s.oc % s.groups != 0)
    return Invalid("{} groups for {} and {} channels", s.groups, s.ic, s.oc);
  s.has_bias = !IsAbsent(problem, 2);
  if (s.has_bias && problem.inputs[2].dims != om::Dims{s.oc})
    return Invalid("bias is {}", DimsText(problem.inputs[2].dims));
  s.has_residual = !IsAbsent(problem, 3);
  if (s.has_residual && problem.inputs[3].dims != y) return Invalid("residual is {}", DimsText(problem.inputs[3].dims));
  return {};
}

}  // namespace

Result<ConvShape> ReadConv(const Problem& problem) {
  ConvShape s;
  NPUSTREAM_RETURN_IF_ERROR(ReadCommon(problem, s));
  const om::Dims& w = problem.inputs[1].dims;
  if (w[0] != s.oc || w[1] != s.ic / s.groups) return Invalid("weights are {}", DimsText(w));
  const auto size = [](int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
    const int64_t room = in + pads - ((kernel - 1) * dilation + 1);
    return room < 0 ? 0 : room / stride + 1;
  };
  if (size(s.ih, s.pad_top + s.pad_bottom, s.kh, s.dilation_h, s.stride_h) != s.oh ||
      size(s.iw, s.pad_left + s.pad_right, s.kw, s.dilation_w, s.stride_w) != s.ow) {
    return Invalid("the result is {}", DimsText(problem.outputs[0].dims));
  }
  return s;
}

Result<ConvShape> ReadConvTranspose(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  ConvShape s;
  NPUSTREAM_RETURN_IF_ERROR(ReadCommon(problem, s));
  const om::Dims& w = problem.inputs[1].dims;
  if (w[0] != s.ic || w[1] != s.oc / s.groups) return Invalid("weights are {}", DimsText(w));
  // Output padding shows as a larger result: as much less padding at the end.
  s.pad_bottom = (s.ih - 1) * s.stride_h + (s.kh - 1) * s.dilation_h + 1 - s.pad_top - s.oh;
  s.pad_right = (s.iw - 1) * s.stride_w + (s.kw - 1) * s.dilation_w + 1 - s.pad_left - s.ow;
  const bool possible =
      s.pad_bottom > -s.stride_h && s.pad_bottom <= kMaxSize && s.pad_right > -s.stride_w && s.pad_right <= kMaxSize;
  if (!possible) return Invalid("the result is {}", DimsText(problem.outputs[0].dims));
  return s;
}

}  // namespace npustream::kernels
