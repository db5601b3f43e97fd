#pragma once

#include "npu_sim/kernels/kernel.h"

namespace npustream::kernels {

// A convolution or its transpose over one or two spatial axes, with one axis as two (height 1). Sizes in elements.
struct ConvShape {
  int64_t n = 0, ic = 0, ih = 1, iw = 1, oc = 0, oh = 1, ow = 1, groups = 1;
  int64_t kh = 1, kw = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool has_bias = false, has_residual = false;

  bool IsDepthwise() const { return groups > 1 && groups == ic && ic == oc; }
};

// Reads and checks a Conv (x, w, [bias], [residual]) node, but not the types; every size is positive and moderate
// afterwards.
Result<ConvShape> ReadConv(const Problem& problem);
// The same for ConvTranspose, whose weights are ic, oc/groups, kh, kw.
Result<ConvShape> ReadConvTranspose(const Problem& problem);

}  // namespace npustream::kernels
