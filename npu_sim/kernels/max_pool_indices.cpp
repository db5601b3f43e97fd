// MaxPoolIndices: where in the flattened input each maximum of a MaxPool lies, the first of equal ones; over one to
// three spatial axes. With storage_order 1 places of the last two axes are counted column by column.
#include <algorithm>
#include <array>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr size_t kAxes = 3;
constexpr int64_t kMaxSize = 1 << 20;
using Sizes = std::array<int64_t, kAxes>;

// Missing axes stand in front, with one place.
struct Shape {
  int64_t planes = 0;
  Sizes in, out, kernel, stride, dilation, pad;
  bool column_major = false;

  int64_t Places() const { return in[0] * in[1] * in[2]; }
};

Result<Sizes> ReadSizes(const Problem& problem, const char* name, size_t axes, int64_t otherwise, int64_t low) {
  const auto values = om::GetInts(*problem.node, name, std::vector<int64_t>(axes, otherwise));
  if (values.size() < axes) return Invalid("{} has {} entries, expected {}", name, values.size(), axes);
  Sizes sizes;
  sizes.fill(otherwise);
  for (size_t i = 0; i < axes; ++i) {
    if (values[i] < low || values[i] > kMaxSize) return Invalid("{} of {}", name, values[i]);
    sizes[kAxes - axes + i] = values[i];
  }
  return sizes;
}

Result<Sizes> SpatialDims(const om::Dims& dims) {
  Sizes sizes = {1, 1, 1};
  for (size_t i = 2; i < dims.size(); ++i) {
    if (dims[i] < 1 || dims[i] > kMaxSize) return Invalid("size {}", dims[i]);
    sizes[kAxes - (dims.size() - 2) + i - 2] = dims[i];
  }
  return sizes;
}

Result<Shape> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
  if (problem.inputs[0].type != om::DataType::kFloat32)
    return Unsupported("type {}", om::ToString(problem.inputs[0].type));
  if (problem.outputs[0].type != om::DataType::kInt64)
    return Invalid("result of type {}", om::ToString(problem.outputs[0].type));
  const om::Dims &x = problem.inputs[0].dims, &y = problem.outputs[0].dims;
  if (x.size() < 3 || x.size() > 2 + kAxes || y.size() != x.size()) return Unsupported("pooling of rank {}", x.size());
  if (y[0] != x[0] || y[1] != x[1]) return Invalid("the result is {}", DimsText(y));
  const size_t axes = x.size() - 2;
  Shape s;
  s.planes = x[0] * x[1];
  s.column_major = om::GetInt(*problem.node, "storage_order", 0) != 0;
  NPUSTREAM_ASSIGN_OR_RETURN(s.in, SpatialDims(x));
  NPUSTREAM_ASSIGN_OR_RETURN(s.out, SpatialDims(y));
  NPUSTREAM_ASSIGN_OR_RETURN(s.kernel, ReadSizes(problem, "kernel_shape", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(s.stride, ReadSizes(problem, "strides", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(s.dilation, ReadSizes(problem, "dilations", axes, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(s.pad, ReadSizes(problem, "pads", axes, 0, 0));
  for (size_t i = 0; i < kAxes; ++i) {
    // Every window holds at least one place of the input.
    const int64_t last = (s.out[i] - 1) * s.stride[i] - s.pad[i], reach = (s.kernel[i] - 1) * s.dilation[i];
    if (reach < s.pad[i] || last >= s.in[i]) return Invalid("the result is {}", DimsText(y));
    if (s.dilation[i] > s.in[i] && s.pad[i] > 0) return Unsupported("taps further apart than the input is wide");
  }
  return s;
}

// The first tap of a window that begins at `start` whose place is inside, and the first one behind those.
struct Taps {
  Taps(const Shape& s, size_t axis, int64_t position)
      : start(position * s.stride[axis] - s.pad[axis]), step(s.dilation[axis]) {
    first = start < 0 ? (-start + step - 1) / step : 0;
    last = std::min(s.kernel[axis], (s.in[axis] - start + step - 1) / step);
  }
  int64_t start, step, first, last;
};

// Offset of the maximum in a plane.
int64_t Place(const Shape& s, const float* x, const Taps& d, const Taps& h, const Taps& w) {
  int64_t best = -1, named = 0;
  for (int64_t i = d.first; i < d.last; ++i) {
    for (int64_t j = h.first; j < h.last; ++j) {
      for (int64_t k = w.first; k < w.last; ++k) {
        const int64_t depth = d.start + i * d.step, row = h.start + j * h.step, column = w.start + k * w.step;
        const int64_t place = (depth * s.in[1] + row) * s.in[2] + column;
        if (best >= 0 && !(x[place] > x[best])) continue;
        best = place;
        named = s.column_major ? (depth * s.in[2] + column) * s.in[1] + row : place;
      }
    }
  }
  return named;
}

class MaxPoolIndices final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    return MakeExecutor([s](const Arguments& a) {
      const float* x = In<float>(a, 0);
      int64_t* y = Out<int64_t>(a);
      for (int64_t plane = 0; plane < s.planes; ++plane, x += s.Places()) {
        for (int64_t d = 0; d < s.out[0]; ++d) {
          const Taps depth(s, 0, d);
          for (int64_t h = 0; h < s.out[1]; ++h) {
            const Taps height(s, 1, h);
            for (int64_t w = 0; w < s.out[2]; ++w)
              *y++ = plane * s.Places() + Place(s, x, depth, height, Taps(s, 2, w));
          }
        }
      }
    });
  }
};

}  // namespace

const Kernel* MaxPoolIndicesKernel() {
  static const MaxPoolIndices kernel;
  return &kernel;
}

}  // namespace npustream::kernels
