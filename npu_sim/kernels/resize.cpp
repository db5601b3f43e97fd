// Resize of the last two axes: nearest, linear, cubic with every coordinate mode but tf_crop_and_resize. Places,
// weights and sums are single precision, in ONNX Runtime's order: what is quantised next falls on the same side of
// every tie. This file is compiled without multiply-add instructions.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// The source pixels of one result pixel along one axis.
struct Tap {
  int32_t index[4];
  float weight[4];
};
struct Axis {
  std::vector<Tap> taps;
  int count = 1;  // taps in use
};

struct Mode {
  std::string coordinates, nearest;
  float cubic_a;
  int taps;                      // 1 nearest, 2 linear, 4 cubic
  bool exclude_outside = false;  // taps beyond the picture count nothing, instead of as the picture's edge
};

float SourceCoordinate(const std::string& mode, float x, float scale, float in, float out) {
  if (mode == "asymmetric") return x / scale;
  if (mode == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "pytorch_half_pixel") return out > 1 ? (x + 0.5f) / scale - 0.5f : 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5f) / scale;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (in * scale)) + (x + 0.5f) / scale - 0.5f;
  return (x + 0.5f) / scale - 0.5f;
}

int64_t Nearest(const std::string& mode, float x) {
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::round(x));
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(std::ceil(x - 0.5f));
}

// Both sides of a place, which is moved into the picture first.
Tap LinearTap(float x, int64_t in) {
  const float place = std::clamp(x, 0.0f, static_cast<float>(in - 1));
  const auto first = static_cast<int32_t>(std::min(static_cast<int64_t>(place), in - 1));
  const auto second = static_cast<int32_t>(std::min<int64_t>(first + 1, in - 1));
  if (first == second) return {{first, second}, {0.5f, 0.5f}};
  return {{first, second}, {static_cast<float>(second) - place, place - static_cast<float>(first)}};
}

Tap MakeTap(const Mode& mode, float x, int64_t in) {
  Tap tap = {};
  if (mode.taps == 1) {
    tap.index[0] = static_cast<int32_t>(std::clamp<int64_t>(Nearest(mode.nearest, x), 0, in - 1));
    tap.weight[0] = 1;
    return tap;
  }
  if (mode.taps == 2) return LinearTap(x, in);
  const double base = std::floor(x), t = static_cast<double>(x) - base, a = mode.cubic_a;
  const double cubic[4] = {((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a,
                           ((a + 2) * t - (a + 3)) * t * t + 1, ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1,
                           ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a};
  for (int k = 0; k < mode.taps; ++k) {
    const int64_t index = static_cast<int64_t>(base) + k - 1;
    tap.index[k] = static_cast<int32_t>(std::clamp<int64_t>(index, 0, in - 1));
    const bool counts = !mode.exclude_outside || (index >= 0 && index < in);
    tap.weight[k] = counts ? static_cast<float>(cubic[k]) : 0;
  }
  if (!mode.exclude_outside) return tap;
  float sum = 0;
  for (const float weight : tap.weight) sum += weight;
  for (float& weight : tap.weight) weight /= sum;
  return tap;
}

Axis MakeAxis(const Mode& mode, int64_t in, int64_t out, float scale) {
  Axis axis;
  const auto in_extent = static_cast<float>(in), out_extent = static_cast<float>(out);
  // An axis that keeps its size is copied.
  const bool kept = in == out && scale == 1;
  const Mode how = kept && mode.taps != 2 ? Mode{"", "floor", 0, 1} : mode;
  axis.count = how.taps;
  for (int64_t i = 0; i < out; ++i) {
    const auto x = static_cast<float>(i);
    axis.taps.push_back(
        MakeTap(how, kept ? x : SourceCoordinate(mode.coordinates, x, scale, in_extent, out_extent), in));
  }
  return axis;
}

struct Plan {
  Axis rows, columns;
  int64_t planes = 0, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
};

// The nearest pixels of integers are those of the numbers they stand for, as long as the result's mean the same.
bool IsByteNearest(const Problem& problem) {
  const TensorInfo &x = problem.inputs[0], &y = problem.outputs[0];
  return om::GetString(*problem.node, "mode", "nearest") == "nearest" && IsByteTensor(x) && IsByteTensor(y) &&
         *x.quantization == *y.quantization;
}

Result<Plan> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
  if (!IsByteNearest(problem)) NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  const om::Dims &x = problem.inputs[0].dims, &y = problem.outputs[0].dims;
  const om::Node& node = *problem.node;
  if (x.size() < 3 || x.size() > 4 || y.size() != x.size()) return Unsupported("Resize of rank {}", x.size());
  if (x[0] != y[0] || x[1] != y[1])
    return Unsupported("Resize of {} to {}: only the last axes may change", DimsText(x), DimsText(y));
  for (size_t axis = 0; axis < x.size(); ++axis) {
    if (x[axis] < 1 || y[axis] < 1 || x[axis] > 1 << 24 || y[axis] > 1 << 24)
      return Invalid("{} to {}", DimsText(x), DimsText(y));
  }
  const std::string mode = om::GetString(node, "mode", "nearest");
  const std::string coordinates = om::GetString(node, "coordinate_transformation_mode", "half_pixel");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") return Unsupported("mode {}", mode);
  if (coordinates == "tf_crop_and_resize") return Unsupported("coordinate mode {}", coordinates);
  if (om::GetInt(node, "antialias", 0) != 0) return Unsupported("antialias");
  const Mode how{coordinates, om::GetString(node, "nearest_mode", "round_prefer_floor"),
                 om::GetFloat(node, "cubic_coeff_a", -0.75f),
                 mode == "nearest"  ? 1
                 : mode == "linear" ? 2
                                    : 4,
                 om::GetInt(node, "exclude_outside", 0) != 0};
  auto scales = om::GetFloats(node, "scales");
  if (scales.empty()) {
    for (size_t axis = 0; axis < x.size(); ++axis)
      scales.push_back(static_cast<float>(y[axis]) / static_cast<float>(x[axis]));
  }
  if (scales.size() != x.size()) return Invalid("scales has {} entries for rank {}", scales.size(), x.size());
  const auto scale = [&](size_t axis) {
    const float given = scales[axis];
    return given > 0 && given <= 1e6f ? given : static_cast<float>(y[axis]) / static_cast<float>(x[axis]);
  };
  Plan plan;
  plan.planes = x[0] * x[1];
  plan.in_w = x.back(), plan.out_w = y.back();
  plan.columns = MakeAxis(how, plan.in_w, plan.out_w, scale(x.size() - 1));
  if (x.size() == 4) plan.in_h = x[2], plan.out_h = y[2];
  plan.rows = x.size() == 4 ? MakeAxis(how, plan.in_h, plan.out_h, scale(2))
                            : Axis{{Tap{{0, 0}, {1, 0}}}, std::min(how.taps, 2)};
  return plan;
}

// One result row of groups of kBlock channels.
template <int64_t kBlock>
void LinearRow(const float* top, const float* bottom, const Tap& row, const Axis& columns, float* to) {
  for (const Tap& column : columns.taps) {
    const float top_left = column.weight[0] * row.weight[0], top_right = column.weight[1] * row.weight[0],
                bottom_left = column.weight[0] * row.weight[1], bottom_right = column.weight[1] * row.weight[1];
    const int64_t left = column.index[0] * kBlock, right = column.index[1] * kBlock;
    for (int64_t lane = 0; lane < kBlock; ++lane) {
      to[lane] = top_left * top[left + lane] + top_right * top[right + lane] + bottom_left * bottom[left + lane] +
                 bottom_right * bottom[right + lane];
    }
    to += kBlock;
  }
}

template <int64_t kBlock>
std::unique_ptr<Executor> LinearExecutor(Plan plan, int64_t groups) {
  return MakeExecutor([plan = std::move(plan), groups](const Arguments& a) {
    const float* x = In<float>(a, 0);
    float* y = Out<float>(a);
    for (int64_t g = 0; g < groups; ++g, x += plan.in_h * plan.in_w * kBlock) {
      for (const Tap& row : plan.rows.taps) {
        const float *top = x + row.index[0] * plan.in_w * kBlock, *bottom = x + row.index[1] * plan.in_w * kBlock;
        LinearRow<kBlock>(top, bottom, row, plan.columns, y);
        y += plan.out_w * kBlock;
      }
    }
  });
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
        const float* row = Vertical(x, plan_.rows.taps[oh], reinterpret_cast<float*>(a.scratch));
        float* to = y + oh * plan_.out_w * block_;
        const bool repeats =
            oh > 0 && plan_.rows.count == 1 && plan_.rows.taps[oh].index[0] == plan_.rows.taps[oh - 1].index[0];
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
  const float* Vertical(const float* x, const Tap& tap, float* row) const {
    const int64_t width = plan_.in_w * block_;
    if (plan_.rows.count == 1) return x + tap.index[0] * width;
    const auto n = static_cast<size_t>(width);
    blend_(x + tap.index[0] * width, x + tap.index[1] * width, row, tap.weight[0], tap.weight[1], n);
    for (int k = 2; k < plan_.rows.count; ++k) blend_(row, x + tap.index[k] * width, row, 1, tap.weight[k], n);
    return row;
  }

  void Horizontal(const float* row, float* to) const {
    const auto lanes = static_cast<size_t>(block_);
    for (int64_t ow = 0; ow < plan_.out_w; ++ow, to += block_) {
      const Tap& tap = plan_.columns.taps[ow];
      if (plan_.columns.count == 1) {
        std::copy_n(row + tap.index[0] * block_, lanes, to);
        continue;
      }
      if (block_ == 1) {
        float sum = 0;
        for (int k = 0; k < plan_.columns.count; ++k) sum += row[tap.index[k]] * tap.weight[k];
        *to = sum;
        continue;
      }
      blend_(row + tap.index[0] * block_, row + tap.index[1] * block_, to, tap.weight[0], tap.weight[1], lanes);
      for (int k = 2; k < plan_.columns.count; ++k)
        blend_(to, row + tap.index[k] * block_, to, 1, tap.weight[k], lanes);
    }
  }

  Plan plan_;
  int64_t groups_, block_;
  void (*blend_)(const float*, const float*, float*, float, float, size_t);
};

size_t ScratchBytes(const Problem& problem, om::Layout layout) {
  return static_cast<size_t>(problem.inputs[0].dims.back() * om::BlockOf(layout)) * sizeof(float);
}

// The nearest pixel of bytes in groups of channels.
template <size_t kBlock>
std::unique_ptr<Executor> NearestBytes(Plan plan, int64_t groups) {
  return MakeExecutor([plan = std::move(plan), groups](const Arguments& a) {
    const uint8_t* x = In<uint8_t>(a, 0);
    uint8_t* y = Out<uint8_t>(a);
    const size_t row_bytes = static_cast<size_t>(plan.out_w) * kBlock;
    for (int64_t g = 0; g < groups; ++g, x += static_cast<size_t>(plan.in_h * plan.in_w) * kBlock) {
      int32_t before = -1;
      for (const Tap& row : plan.rows.taps) {
        if (row.index[0] == before) {
          std::memcpy(y, y - row_bytes, row_bytes);
        } else {
          const uint8_t* from = x + static_cast<size_t>(row.index[0] * plan.in_w) * kBlock;
          uint8_t* to = y;
          for (const Tap& column : plan.columns.taps) {
            std::memcpy(to, from + static_cast<size_t>(column.index[0]) * kBlock, kBlock);
            to += kBlock;
          }
        }
        before = row.index[0];
        y += row_bytes;
      }
    }
  });
}

class Resize final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    choice.scratch_bytes = ScratchBytes(problem, problem.inputs[0].layout);
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(Plan plan, Read(problem));
    const om::Layout layout = problem.inputs[0].layout;
    if (layout != problem.outputs[0].layout) return Invalid("layouts differ");
    if (problem.scratch_bytes < ScratchBytes(problem, layout)) return Invalid("the scratch buffer is too small");
    const om::Dims& x = problem.inputs[0].dims;
    const int64_t block = om::BlockOf(layout), groups = x[0] * ((x[1] + block - 1) / block);
    if (IsByteNearest(problem)) {
      switch (block) {
        case 16: return NearestBytes<16>(std::move(plan), groups);
        case 8: return NearestBytes<8>(std::move(plan), groups);
        case 4: return NearestBytes<4>(std::move(plan), groups);
        default: return NearestBytes<1>(std::move(plan), groups);
      }
    }
    if (om::GetString(*problem.node, "mode", "nearest") == "linear") {
      switch (block) {
        case 16: return LinearExecutor<16>(std::move(plan), groups);
        case 8: return LinearExecutor<8>(std::move(plan), groups);
        default: return LinearExecutor<1>(std::move(plan), groups);
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
