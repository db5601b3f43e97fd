// Resize of the last two axes: nearest, linear, cubic with every coordinate mode. Separable: each result row is a
// weighted sum of source rows, each pixel one of columns.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// The source pixels of the result's pixels along one axis: `count` taps for each.
struct Axis {
  std::vector<int32_t> indices;
  std::vector<float> weights;
  int count = 1;

  const int32_t* Indices(int64_t i) const { return indices.data() + i * count; }
  const float* Weights(int64_t i) const { return weights.data() + i * count; }
};

struct Mode {
  std::string coordinates, nearest;
  double cubic_a;
  int support;                   // pixels to each side that a result pixel depends on: 0 nearest, 1 linear, 2 cubic
  bool exclude_outside = false;  // taps beyond the picture count nothing, instead of as the picture's edge
  bool antialias = false;        // a picture made smaller has a support that is larger by as much
};

// One axis of the picture. The result shows [begin, end] of it, as shares, where coordinates are tf_crop_and_resize.
struct Extent {
  int64_t in, out;
  double scale, begin = 0, end = 1;

  bool IsCopy(const Mode& mode) const {
    return in == out && scale == 1 && (mode.coordinates != "tf_crop_and_resize" || (begin == 0 && end == 1));
  }
};

double SourceCoordinate(const std::string& mode, double x, const Extent& e) {
  const auto in = static_cast<double>(e.in), out = static_cast<double>(e.out);
  if (mode == "asymmetric") return x / e.scale;
  if (mode == "align_corners") return e.out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "pytorch_half_pixel") return e.out == 1 ? 0 : (x + 0.5) / e.scale - 0.5;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / e.scale;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (in * e.scale)) + (x + 0.5) / e.scale - 0.5;
  if (mode == "tf_crop_and_resize") {
    if (e.out == 1) return 0.5 * (e.begin + e.end) * (in - 1);
    return e.begin * (in - 1) + x * (e.end - e.begin) * (in - 1) / (out - 1);
  }
  return (x + 0.5) / e.scale - 0.5;
}

int64_t Nearest(const std::string& mode, double x) {
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

// The weight of a pixel at distance `x`.
double Weight(const Mode& mode, double x) {
  const double d = std::fabs(x), a = mode.cubic_a;
  if (mode.support == 1) return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Appends the taps of a result pixel whose place in the source is `x`. Those beyond the picture are its edge.
void AddTaps(const Mode& mode, double x, int64_t in, double shrink, Axis& axis) {
  const double base = std::floor(x);
  const auto first = static_cast<int64_t>(std::floor(-mode.support / shrink)) + 1;
  const size_t begin = axis.weights.size();
  double sum = 0;
  for (int k = 0; k < axis.count; ++k) {
    const int64_t offset = first + k, index = static_cast<int64_t>(base) + offset;
    const bool counts = !mode.exclude_outside || (index >= 0 && index < in);
    const double weight = counts ? Weight(mode, shrink * (static_cast<double>(offset) - (x - base))) : 0;
    axis.indices.push_back(static_cast<int32_t>(std::clamp<int64_t>(index, 0, in - 1)));
    axis.weights.push_back(static_cast<float>(weight));
    sum += weight;
  }
  if (!mode.exclude_outside && shrink == 1) return;
  for (size_t i = begin; i < axis.weights.size(); ++i) axis.weights[i] /= static_cast<float>(sum);
}

double Shrink(const Mode& mode, const Extent& e) { return mode.antialias ? std::min(1.0, e.scale) : 1; }

// All taps of an axis together are about as many as its longer side has pixels, times the support to both sides.
bool HasFewTaps(const Mode& mode, const Extent& e) {
  constexpr double kMostTaps = 1 << 25;
  return (2 * mode.support / Shrink(mode, e) + 2) * static_cast<double>(e.out) <= kMostTaps;
}

Axis MakeAxis(const Mode& mode, const Extent& e) {
  Axis axis;
  const double shrink = Shrink(mode, e);
  // An axis that keeps its size is copied, whatever the mode.
  const bool copy = e.IsCopy(mode), picks = copy || mode.support == 0;
  if (!picks) axis.count = 2 - 2 * (static_cast<int>(std::floor(-mode.support / shrink)) + 1);
  for (int64_t i = 0; i < e.out; ++i) {
    const auto place = static_cast<double>(i);
    // No place is further away than an integer holds, whatever a damaged file says.
    const double x = copy ? place : std::clamp(SourceCoordinate(mode.coordinates, place, e), -1e9, 1e9);
    if (!picks) {
      AddTaps(mode, x, e.in, shrink, axis);
    } else {
      const int64_t index = copy ? i : Nearest(mode.nearest, x);
      axis.indices.push_back(static_cast<int32_t>(std::clamp<int64_t>(index, 0, e.in - 1)));
      axis.weights.push_back(1);
    }
  }
  return axis;
}

struct Plan {
  Axis rows, columns;
  int64_t in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  bool channels_last = false;
};

// The nearest pixels of integers are those of the numbers they stand for, as long as the result's mean the same.
bool IsByteNearest(const Problem& problem) {
  const TensorInfo &x = problem.inputs[0], &y = problem.outputs[0];
  return om::GetString(*problem.node, "mode", "nearest") == "nearest" && IsByteTensor(x) && IsByteTensor(y) &&
         *x.quantization == *y.quantization && x.dims.size() == y.dims.size() && x.dims.size() > 1 &&
         x.dims[1] == y.dims[1];
}

// An axis with its scale, which follows from the sizes when none is given.
Result<Extent> ReadExtent(const Problem& problem, size_t axis) {
  const size_t rank = problem.inputs[0].dims.size();
  Extent e{problem.inputs[0].dims[axis], problem.outputs[0].dims[axis], 0};
  e.scale = static_cast<double>(e.out) / static_cast<double>(e.in);
  const auto scales = om::GetFloats(*problem.node, "scales"), roi = om::GetFloats(*problem.node, "roi");
  if (!scales.empty() && scales.size() != rank)
    return Invalid("scales has {} entries for rank {}", scales.size(), rank);
  if (!roi.empty() && roi.size() != 2 * rank) return Invalid("roi has {} entries for rank {}", roi.size(), rank);
  // One that does not lead from here to there is not believed: it decides how many taps there are.
  if (!scales.empty()) {
    const double given = scales[axis], reached = given * static_cast<double>(e.in), out = static_cast<double>(e.out);
    if (reached > out - 1 && reached < out + 2) e.scale = given;
  }
  if (!roi.empty()) e.begin = roi[axis], e.end = roi[axis + rank];
  if (!std::isfinite(e.begin) || !std::isfinite(e.end)) return Invalid("a region from {} to {}", e.begin, e.end);
  return e;
}

Result<Plan> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
  if (!IsByteNearest(problem)) NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  const om::Dims &x = problem.inputs[0].dims, &y = problem.outputs[0].dims;
  const om::Node& node = *problem.node;
  if (x.size() < 3 || x.size() > 4 || y.size() != x.size()) return Unsupported("Resize of rank {}", x.size());
  for (size_t axis = 0; axis < x.size(); ++axis) {
    if (x[axis] < 1 || y[axis] < 1 || x[axis] > 1 << 22 || y[axis] > 1 << 22)
      return Invalid("{} to {}", DimsText(x), DimsText(y));
  }
  const std::string mode = om::GetString(node, "mode", "nearest");
  const std::string coordinates = om::GetString(node, "coordinate_transformation_mode", "half_pixel");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") return Unsupported("mode {}", mode);
  const int support = mode == "nearest" ? 0 : mode == "linear" ? 1 : 2;
  const Mode how{coordinates,
                 om::GetString(node, "nearest_mode", "round_prefer_floor"),
                 om::GetFloat(node, "cubic_coeff_a", -0.75f),
                 support,
                 om::GetInt(node, "exclude_outside", 0) != 0,
                 om::GetInt(node, "antialias", 0) != 0};
  std::vector<Extent> extents;
  for (size_t axis = 0; axis < x.size(); ++axis) {
    NPUSTREAM_ASSIGN_OR_RETURN(extents.emplace_back(), ReadExtent(problem, axis));
  }
  if (x.size() == 3) extents.insert(extents.begin() + 2, Extent{1, 1, 1});
  // Pictures whose channels come last have axes 1 and 2 resized.
  const bool channels_last = !extents[1].IsCopy(how);
  if (!extents[0].IsCopy(how) || (channels_last && (!extents[3].IsCopy(how) || x.size() == 3)))
    return Unsupported("Resize of {} to {}: only two neighbouring axes may change", DimsText(x), DimsText(y));
  const Extent &rows = extents[channels_last ? 1 : 2], &columns = extents[channels_last ? 2 : 3];
  Plan plan;
  plan.channels_last = channels_last;
  plan.in_h = rows.in, plan.out_h = rows.out, plan.in_w = columns.in, plan.out_w = columns.out;
  for (const Extent* extent : {&rows, &columns}) {
    if (!HasFewTaps(how, *extent)) return Invalid("scales do not make {} of {}", extent->out, extent->in);
  }
  plan.rows = MakeAxis(how, rows);
  plan.columns = MakeAxis(how, columns);
  return plan;
}

// Works on groups of `block` channels (1 when plain); `row` holds one source row after the vertical step.
class ResizeExecutor final : public Executor {
 public:
  ResizeExecutor(Plan plan, int64_t groups, int64_t block, Isa isa)
      : plan_(std::move(plan)), groups_(groups), block_(block), blend_(SimdFor(isa).blend) {}

  Status Run(const Arguments& a) override {
    for (int64_t g = 0; g < groups_; ++g) {
      const float* x = In<float>(a, 0) + g * plan_.in_h * plan_.in_w * block_;
      float* y = Out<float>(a) + g * plan_.out_h * plan_.out_w * block_;
      for (int64_t oh = 0; oh < plan_.out_h; ++oh) {
        const float* row = Vertical(x, oh, reinterpret_cast<float*>(a.scratch));
        float* to = y + oh * plan_.out_w * block_;
        const bool repeats = oh > 0 && plan_.rows.count == 1 && *plan_.rows.Indices(oh) == *plan_.rows.Indices(oh - 1);
        if (repeats) {
          std::memcpy(to, to - plan_.out_w * block_, static_cast<size_t>(plan_.out_w * block_) * sizeof(float));
        } else {
          Horizontal(row, to);
        }
      }
    }
    return {};
  }

 private:
  const float* Vertical(const float* x, int64_t oh, float* row) const {
    const int64_t width = plan_.in_w * block_;
    const int32_t* index = plan_.rows.Indices(oh);
    const float* weight = plan_.rows.Weights(oh);
    if (plan_.rows.count == 1) return x + index[0] * width;
    const auto n = static_cast<size_t>(width);
    blend_(x + index[0] * width, x + index[1] * width, row, weight[0], weight[1], n);
    for (int k = 2; k < plan_.rows.count; ++k) blend_(row, x + index[k] * width, row, 1, weight[k], n);
    return row;
  }

  void Horizontal(const float* row, float* to) const {
    const auto lanes = static_cast<size_t>(block_);
    const int count = plan_.columns.count;
    for (int64_t ow = 0; ow < plan_.out_w; ++ow, to += block_) {
      const int32_t* index = plan_.columns.Indices(ow);
      const float* weight = plan_.columns.Weights(ow);
      if (count == 1) {
        std::copy_n(row + index[0] * block_, lanes, to);
      } else if (block_ == 1) {
        float sum = 0;
        for (int k = 0; k < count; ++k) sum += row[index[k]] * weight[k];
        *to = sum;
      } else {
        blend_(row + index[0] * block_, row + index[1] * block_, to, weight[0], weight[1], lanes);
        for (int k = 2; k < count; ++k) blend_(to, row + index[k] * block_, to, 1, weight[k], lanes);
      }
    }
  }

  Plan plan_;
  int64_t groups_, block_;
  void (*blend_)(const float*, const float*, float*, float, float, size_t);
};

// Channels that lie side by side.
int64_t Lanes(const Plan& plan, const TensorInfo& x, om::Layout layout) {
  return plan.channels_last ? x.dims.back() : om::BlockOf(layout);
}

size_t ScratchBytes(const Plan& plan, int64_t lanes) { return static_cast<size_t>(plan.in_w * lanes) * sizeof(float); }

// The nearest pixel of bytes in groups of channels.
template <size_t kBlock>
std::unique_ptr<Executor> NearestBytes(Plan plan, int64_t groups) {
  return MakeExecutor([plan = std::move(plan), groups](const Arguments& a) {
    const uint8_t* x = In<uint8_t>(a, 0);
    uint8_t* y = Out<uint8_t>(a);
    const size_t row_bytes = static_cast<size_t>(plan.out_w) * kBlock;
    for (int64_t g = 0; g < groups; ++g, x += static_cast<size_t>(plan.in_h * plan.in_w) * kBlock) {
      int32_t before = -1;
      for (const int32_t row : plan.rows.indices) {
        if (row == before) {
          std::memcpy(y, y - row_bytes, row_bytes);
        } else {
          const uint8_t* from = x + static_cast<size_t>(row * plan.in_w) * kBlock;
          uint8_t* to = y;
          for (const int32_t column : plan.columns.indices) {
            std::memcpy(to, from + static_cast<size_t>(column) * kBlock, kBlock);
            to += kBlock;
          }
        }
        before = row;
        y += row_bytes;
      }
    }
  });
}

class Resize final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const Plan plan, Read(problem));
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    if (!plan.channels_last) choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    choice.scratch_bytes = ScratchBytes(plan, Lanes(plan, problem.inputs[0], choice.inputs[0]));
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(Plan plan, Read(problem));
    const om::Layout layout = problem.inputs[0].layout;
    if (layout != problem.outputs[0].layout) return Invalid("layouts differ");
    if (plan.channels_last) NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const om::Dims& x = problem.inputs[0].dims;
    const int64_t block = Lanes(plan, problem.inputs[0], layout);
    const int64_t groups = plan.channels_last ? x[0] : x[0] * ((x[1] + block - 1) / block);
    if (problem.scratch_bytes < ScratchBytes(plan, block)) return Invalid("the scratch buffer is too small");
    if (IsByteNearest(problem)) {
      switch (block) {
        case 16: return NearestBytes<16>(std::move(plan), groups);
        case 8: return NearestBytes<8>(std::move(plan), groups);
        case 4: return NearestBytes<4>(std::move(plan), groups);
        default: return NearestBytes<1>(std::move(plan), groups);
      }
    }
    return std::unique_ptr<Executor>(std::make_unique<ResizeExecutor>(std::move(plan), groups, block, problem.isa));
  }
};

}  // namespace

const Kernel* ResizeKernel() {
  static const Resize kernel;
  return &kernel;
}

}  // namespace npustream::kernels
