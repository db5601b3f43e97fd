// GridSample: every result pixel is interpolated at a place of the picture that a grid names in [−1, 1].
#include <algorithm>
#include <cmath>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct GridShape {
  int64_t n, c, in_h, in_w, out_h, out_w;
  Mode mode;
  Padding padding;
  bool align_corners;
};

// A pixel index is kept within reach of an integer; infinities and NaN end somewhere outside.
constexpr float kFar = 1e9f;

// From [−1, 1] to pixels.
float Unnormalise(float x, int64_t size, bool align_corners) {
  const auto extent = static_cast<float>(size);
  const float pixel = align_corners ? (x + 1) / 2 * (extent - 1) : ((x + 1) * extent - 1) / 2;
  return pixel > -kFar ? std::min(pixel, kFar) : -kFar;
}

// Folds x back into [low, high], mirrored at both ends.
float Reflect(float x, float low, float high) {
  const float range = high - low;
  if (range <= 0) return low;
  const float distance = std::fabs(x - low), turns = std::floor(distance / range), rest = distance - turns * range;
  return std::fmod(turns, 2.0f) == 0 ? low + rest : high - rest;
}

// The place that stands for a place outside.
float Padded(float x, int64_t size, const GridShape& s) {
  if (s.padding == Padding::kZeros) return x;
  const auto last = static_cast<float>(size - 1);
  if (s.padding == Padding::kReflection) x = s.align_corners ? Reflect(x, 0, last) : Reflect(x, -0.5f, last + 0.5f);
  return std::clamp(x, 0.0f, last);
}

// One plane, which is read at whole pixels.
struct Plane {
  const float* x;
  const GridShape& s;

  float At(int64_t row, int64_t column) const {
    if (s.padding != Padding::kZeros) {
      row = static_cast<int64_t>(Padded(static_cast<float>(row), s.in_h, s));
      column = static_cast<int64_t>(Padded(static_cast<float>(column), s.in_w, s));
    }
    if (row < 0 || row >= s.in_h || column < 0 || column >= s.in_w) return 0;
    return x[row * s.in_w + column];
  }
};

// Weights of the four pixels around a place `t` beyond the second; Keys' cubic with a = −3/4.
void CubicWeights(float t, float weights[4]) {
  constexpr float kA = -0.75f;
  const auto near = [](float x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](float x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  weights[0] = far(t + 1), weights[1] = near(t), weights[2] = near(1 - t), weights[3] = far(2 - t);
}

float Sample(const Plane& plane, float row, float column) {
  const GridShape& s = plane.s;
  if (s.mode == Mode::kNearest)
    return plane.At(static_cast<int64_t>(std::nearbyint(row)), static_cast<int64_t>(std::nearbyint(column)));
  const float top = std::floor(row), left = std::floor(column), dy = row - top, dx = column - left;
  const auto r = static_cast<int64_t>(top), c = static_cast<int64_t>(left);
  if (s.mode == Mode::kLinear) {
    return (1 - dy) * ((1 - dx) * plane.At(r, c) + dx * plane.At(r, c + 1)) +
           dy * ((1 - dx) * plane.At(r + 1, c) + dx * plane.At(r + 1, c + 1));
  }
  float down[4], across[4], sum = 0;
  CubicWeights(dy, down);
  CubicWeights(dx, across);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t k = 0; k < 4; ++k) sum += down[i] * across[k] * plane.At(r - 1 + i, c - 1 + k);
  }
  return sum;
}

void RunGridSample(const GridShape& s, const Arguments& a) {
  const int64_t pixels = s.out_h * s.out_w, in = s.in_h * s.in_w;
  for (int64_t n = 0; n < s.n; ++n) {
    const float* grid = In<float>(a, 1) + n * pixels * 2;
    for (int64_t p = 0; p < pixels; ++p) {
      float column = Unnormalise(grid[2 * p], s.in_w, s.align_corners);
      float row = Unnormalise(grid[2 * p + 1], s.in_h, s.align_corners);
      // Cubic interpolation pads the pixels that it reads, not the place.
      if (s.mode != Mode::kCubic) column = Padded(column, s.in_w, s), row = Padded(row, s.in_h, s);
      for (int64_t c = 0; c < s.c; ++c) {
        const Plane plane{In<float>(a, 0) + (n * s.c + c) * in, s};
        Out<float>(a)[(n * s.c + c) * pixels + p] = Sample(plane, row, column);
      }
    }
  }
}

class GridSample final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const GridShape s, Read(problem));
    return MakeExecutor([s](const Arguments& a) { RunGridSample(s, a); });
  }

 private:
  static Result<GridShape> Read(const Problem& problem) {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
    const om::Dims &x = problem.inputs[0].dims, &grid = problem.inputs[1].dims;
    if (x.size() != 4) return Unsupported("a picture of rank {}", x.size());
    if (grid.size() != 4 || grid[0] != x[0] || grid[3] != 2 || x[2] < 1 || x[3] < 1)
      return Invalid("a grid {} for {}", DimsText(grid), DimsText(x));
    GridShape s = {x[0], x[1], x[2], x[3], grid[1], grid[2], Mode::kLinear, Padding::kZeros, false};
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, {s.n, s.c, s.out_h, s.out_w}));
    const std::string mode = om::GetString(*problem.node, "mode", "linear");
    const std::string padding = om::GetString(*problem.node, "padding_mode", "zeros");
    if (mode != "nearest" && mode != "linear" && mode != "cubic") return Unsupported("mode '{}'", mode);
    if (padding != "zeros" && padding != "border" && padding != "reflection")
      return Unsupported("padding_mode '{}'", padding);
    s.mode = mode == "nearest" ? Mode::kNearest : mode == "cubic" ? Mode::kCubic : Mode::kLinear;
    s.padding = padding == "border"       ? Padding::kBorder
                : padding == "reflection" ? Padding::kReflection
                                          : Padding::kZeros;
    s.align_corners = om::GetInt(*problem.node, "align_corners", 0) != 0;
    return s;
  }
};

}  // namespace

const Kernel* GridSampleKernel() {
  static const GridSample kernel;
  return &kernel;
}

}  // namespace npustream::kernels
