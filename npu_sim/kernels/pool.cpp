// MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool over one or two spatial axes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kMaxSize = 1 << 20;

Result<std::vector<int64_t>> Spatial(const Problem& problem, const char* name, size_t count, int64_t otherwise,
                                     int64_t low) {
  const auto values = om::GetInts(*problem.node, name, std::vector<int64_t>(count, otherwise));
  if (values.size() != count) return Invalid("{} has {} entries, expected {}", name, values.size(), count);
  for (const int64_t value : values) {
    if (value < low || value > kMaxSize) return Invalid("{} of {}", name, value);
  }
  return values;
}

// Whether `out` follows from the window in one axis, rounding down or (ceil_mode) up.
bool FitsAxis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t begin, int64_t end,
              bool ceil) {
  const int64_t room = in + begin + end - ((kernel - 1) * dilation + 1);
  if (room < 0) return false;
  const int64_t up = ceil ? stride - 1 : 0;
  const int64_t count = (room + up) / stride + 1;
  // A last window that would start in the padding at the end may be left out.
  return out == count || (ceil && out == count - 1 && (count - 1) * stride >= in + begin);
}

// The greatest of integers is that of the numbers they stand for, as long as the result's mean the same.
bool IsByteMaxPool(const Problem& problem) {
  const TensorInfo &x = problem.inputs[0], &y = problem.outputs[0];
  return problem.node->op == "MaxPool" && IsByteTensor(x) && IsByteTensor(y) && *x.quantization == *y.quantization;
}

bool IsByteMean(const Problem& problem) {
  return problem.node->op.ends_with("AveragePool") && IsByteTensor(problem.inputs[0]) && IsByteTensor(problem.outputs[0]);
}

// Sums of more bytes than that could overflow; and a window's row has to lie in a row.
Status CheckByteMean(const PoolShape& s) {
  constexpr int64_t kMostPixels = int64_t{1} << 22;
  if (std::min(s.kernel_h, s.in_h) > kMostPixels / std::min(s.kernel_w, s.in_w)) return Unsupported("so large a window");
  return s.dilation_h == 1 && s.dilation_w == 1 ? Status() : Unsupported("means of spread bytes");
}

Result<PoolShape> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
  if (!IsByteMaxPool(problem) && !IsByteMean(problem)) NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  const om::Dims &x = problem.inputs[0].dims, &y = problem.outputs[0].dims;
  const size_t axes = x.size() - 2;
  if (x.size() < 3 || x.size() > 4 || y.size() != x.size())
    return Unsupported("pooling of a tensor of rank {}", x.size());
  for (const int64_t dim : x) {
    if (dim < 1 || dim > kMaxSize) return Invalid("size {}", dim);
  }
  if (y[0] != x[0] || y[1] != x[1]) return Invalid("the result is {}", DimsText(y));
  PoolShape s = {};
  s.in_h = axes == 2 ? x[2] : 1, s.in_w = x.back(), s.out_h = axes == 2 ? y[2] : 1, s.out_w = y.back();
  s.stride_h = s.stride_w = s.dilation_h = s.dilation_w = s.kernel_h = 1;
  const std::string& op = problem.node->op;
  s.is_max = op == "MaxPool" || op == "GlobalMaxPool";
  if (op.starts_with("Global")) {
    s.kernel_h = s.in_h, s.kernel_w = s.in_w;
    if (s.out_h != 1 || s.out_w != 1) return Invalid("the result is {}", DimsText(y));
    return s;
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const auto kernel, Spatial(problem, "kernel_shape", axes, 0, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto strides, Spatial(problem, "strides", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto dilations, Spatial(problem, "dilations", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto pads, Spatial(problem, "pads", axes * 2, 0, 0));
  s.kernel_w = kernel.back(), s.stride_w = strides.back(), s.dilation_w = dilations.back();
  s.pad_left = pads[axes - 1], s.pad_right = pads.back();
  if (axes == 2)
    s.kernel_h = kernel[0], s.stride_h = strides[0], s.dilation_h = dilations[0], s.pad_top = pads[0],
    s.pad_bottom = pads[2];
  s.count_include_pad = om::GetInt(*problem.node, "count_include_pad", 0) != 0;
  const bool ceil = om::GetInt(*problem.node, "ceil_mode", 0) != 0;
  if (!FitsAxis(s.in_h, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, s.pad_bottom, ceil) ||
      !FitsAxis(s.in_w, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, s.pad_right, ceil)) {
    return Invalid("the result is {}", DimsText(y));
  }
  return s;
}

size_t ScratchBytes(const Problem& problem, om::Layout layout) {
  const om::Dims &x = problem.inputs[0].dims, &y = problem.outputs[0].dims;
  return static_cast<size_t>((x.size() == 4 ? x[2] : 1) * y.back() * om::BlockOf(layout)) * sizeof(float);
}

// The mean of `count` neighbouring floats, summed up in `lanes` (at most 16) lanes.
float PlaneMean(const float* x, size_t count, size_t lanes, void (*sum)(const float*, float*, size_t, size_t)) {
  float sums[16] = {};
  sum(x, sums, count / lanes, lanes);
  double total = 0;
  for (size_t lane = 0; lane < lanes; ++lane) total += static_cast<double>(sums[lane]);
  for (size_t i = count / lanes * lanes; i < count; ++i) total += static_cast<double>(x[i]);
  return static_cast<float>(total / static_cast<double>(count));
}

// Result places of one axis that a tap of its windows reaches, and where from.
struct Reach {
  int64_t first, last, from;  // results [first, last); source of the first

  Reach(int64_t out, int64_t in, int64_t stride, int64_t offset) {
    first = offset < 0 ? (-offset + stride - 1) / stride : 0;
    last = std::min(out, offset >= in ? 0 : (in - 1 - offset) / stride + 1);
    from = first * stride + offset;
  }
};

// One group of channels: along rows into `scratch`, then down the columns. Every window has a pixel in the picture.
void MaxPoolBytes(const PoolShape& s, const uint8_t* x, uint8_t* y, uint8_t* scratch, size_t block,
                  decltype(SimdTable::byte_max) greater) {
  const size_t row_bytes = static_cast<size_t>(s.out_w) * block;
  std::memset(scratch, 0, static_cast<size_t>(s.in_h) * row_bytes);
  for (int64_t k = 0; k < s.kernel_w; ++k) {
    const Reach reach(s.out_w, s.in_w, s.stride_w, k * s.dilation_w - s.pad_left);
    if (reach.first >= reach.last) continue;
    const auto count = static_cast<size_t>(reach.last - reach.first);
    for (int64_t h = 0; h < s.in_h; ++h) {
      const uint8_t* from = x + static_cast<size_t>(h * s.in_w + reach.from) * block;
      uint8_t* to = scratch + static_cast<size_t>(h) * row_bytes + static_cast<size_t>(reach.first) * block;
      greater(from, static_cast<size_t>(s.stride_w) * block, to, count, block);
    }
  }
  std::memset(y, 0, static_cast<size_t>(s.out_h) * row_bytes);
  for (int64_t k = 0; k < s.kernel_h; ++k) {
    const Reach reach(s.out_h, s.in_h, s.stride_h, k * s.dilation_h - s.pad_top);
    for (int64_t h = reach.first; h < reach.last; ++h) {
      const int64_t from = reach.from + (h - reach.first) * s.stride_h;
      greater(scratch + static_cast<size_t>(from) * row_bytes, row_bytes, y + static_cast<size_t>(h) * row_bytes, 1,
              row_bytes);
    }
  }
}

// Means of bytes that have one quantisation, as bytes of another. Padding stands for zero where it counts.
class MeanBytes {
 public:
  MeanBytes(const PoolShape& s, size_t block, const Problem& problem)
      : s_(s), block_(block), sum_(SimdFor(problem.isa).byte_sums) {
    const om::Quantization &x = *problem.inputs[0].quantization, &y = *problem.outputs[0].quantization;
    x_zero_ = x.zero_points[0], y_zero_ = static_cast<float>(y.zero_points[0]);
    steps_ = x.scales[0] / y.scales[0];
  }

  // One group of channels.
  void Run(const uint8_t* x, uint8_t* y) const {
    for (int64_t oh = 0; oh < s_.out_h; ++oh) {
      const Span rows(oh * s_.stride_h - s_.pad_top, s_.kernel_h, s_.in_h, s_.pad_bottom);
      for (int64_t ow = 0; ow < s_.out_w; ++ow, y += block_)
        Mean(x, rows, Span(ow * s_.stride_w - s_.pad_left, s_.kernel_w, s_.in_w, s_.pad_right), y);
    }
  }

 private:
  // Where a window lies along an axis, and how much of it in the picture, or in that and its padding.
  struct Span {
    int64_t first, last, padded;
    Span(int64_t begin, int64_t size, int64_t in, int64_t pad_end)
        : first(std::max<int64_t>(begin, 0)),
          last(std::max(first, std::min(begin + size, in))),
          padded(std::min(begin + size, in + pad_end) - begin) {}
    int64_t inside() const { return last - first; }
  };

  void Mean(const uint8_t* x, const Span& rows, const Span& columns, uint8_t* y) const {
    int32_t sums[16] = {};
    for (int64_t row = rows.first; row < rows.last; ++row) {
      sum_(x + static_cast<size_t>(row * s_.in_w + columns.first) * block_, sums,
           static_cast<size_t>(columns.inside()), block_);
    }
    const int64_t inside = rows.inside() * columns.inside(),
                  count = s_.count_include_pad ? rows.padded * columns.padded : inside;
    const float steps = steps_ / static_cast<float>(std::max<int64_t>(count, 1));
    for (size_t lane = 0; lane < block_; ++lane) {
      const float mean = static_cast<float>(sums[lane] - inside * x_zero_) * steps;
      y[lane] = static_cast<uint8_t>(std::clamp(std::nearbyint(mean) + y_zero_, 0.0f, 255.0f));
    }
  }

  const PoolShape s_;
  const size_t block_;
  decltype(SimdTable::byte_sums) sum_;
  int64_t x_zero_;
  float y_zero_, steps_;
};

class Pool final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const PoolShape s, Read(problem));
    return IsByteMean(problem) ? CheckByteMean(s) : Status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, "plain");
    // Planes of one channel are slow; a result of some size is worth a reorder.
    const TensorInfo& x = problem.inputs[0];
    const bool global = problem.node->op.starts_with("Global");
    if (x.layout != om::Layout::kPlain || (x.dims[1] >= om::BlockOf(BlockedLayout(problem.isa)) && !global)) {
      choice.inputs[0] = choice.outputs[0] = BlockedLayout(problem.isa);
      choice.implementation = std::string("vector ") + ToString(problem.isa);
    }
    choice.scratch_bytes = ScratchBytes(problem, choice.inputs[0]);
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const PoolShape s, Read(problem));
    const om::Layout layout = problem.inputs[0].layout;
    if (layout != problem.outputs[0].layout) return Invalid("layouts differ");
    const auto block = static_cast<size_t>(om::BlockOf(layout));
    const om::Dims& x = problem.inputs[0].dims;
    const size_t groups = static_cast<size_t>(x[0]) * ((static_cast<size_t>(x[1]) + block - 1) / block);
    const auto in_step = static_cast<size_t>(s.in_h * s.in_w) * block,
               out_step = static_cast<size_t>(s.out_h * s.out_w) * block;
    if (IsByteMaxPool(problem)) {
      if (problem.scratch_bytes < ScratchBytes(problem, layout)) return Invalid("the scratch buffer is too small");
      return MakeExecutor([=, greater = SimdFor(problem.isa).byte_max](const Arguments& a) {
        auto* scratch = reinterpret_cast<uint8_t*>(a.scratch);
        for (size_t g = 0; g < groups; ++g)
          MaxPoolBytes(s, In<uint8_t>(a, 0) + g * in_step, Out<uint8_t>(a) + g * out_step, scratch, block, greater);
      });
    }
    if (IsByteMean(problem)) {
      return MakeExecutor([=, means = MeanBytes(s, block, problem)](const Arguments& a) {
        for (size_t g = 0; g < groups; ++g) means.Run(In<uint8_t>(a, 0) + g * in_step, Out<uint8_t>(a) + g * out_step);
      });
    }
    const SimdTable& simd = SimdFor(problem.isa);
    const bool mean = !s.is_max && s.out_h == 1 && s.out_w == 1 && s.kernel_h == s.in_h && s.kernel_w == s.in_w &&
                      s.pad_top + s.pad_left + s.pad_bottom + s.pad_right == 0;
    if (mean && block == 1) {
      return MakeExecutor([=, sum = simd.sum_pixels,
                           lanes = static_cast<size_t>(om::BlockOf(BlockedLayout(problem.isa)))](const Arguments& a) {
        for (size_t g = 0; g < groups; ++g)
          Out<float>(a)[g] = PlaneMean(In<float>(a, 0) + g * in_step, in_step, lanes, sum);
      });
    }
    if (mean) {
      const auto pixels = static_cast<size_t>(s.in_h * s.in_w);
      return MakeExecutor([=, sum = simd.sum_pixels](const Arguments& a) {
        float* y = Out<float>(a);
        for (size_t g = 0; g < groups; ++g) sum(In<float>(a, 0) + g * in_step, y + g * block, pixels, block);
        for (size_t i = 0; i < groups * block; ++i) y[i] /= static_cast<float>(pixels);
      });
    }
    if (problem.scratch_bytes < ScratchBytes(problem, layout)) return Invalid("the scratch buffer is too small");
    return MakeExecutor([=, pool = simd.pool](const Arguments& a) {
      auto* scratch = reinterpret_cast<float*>(a.scratch);
      for (size_t g = 0; g < groups; ++g)
        pool(In<float>(a, 0) + g * in_step, Out<float>(a) + g * out_step, s, scratch, block);
    });
  }
};

}  // namespace

const Kernel* PoolKernel() {
  static const Pool kernel;
  return &kernel;
}

}  // namespace npustream::kernels
