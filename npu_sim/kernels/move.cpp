// Operators which only move elements and whose results are strided views of their input: Transpose, Slice, Split,
// Expand, Tile, Reshape, DepthToSpace, SpaceToDepth.
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// A result as a walk over the input: `dims` in the result's order, strides and offset in elements of the input.
struct View {
  om::Dims dims;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

Result<std::vector<View>> TransposeView(const Problem& problem) {
  const om::Dims& in = problem.inputs[0].dims;
  om::Dims reversed(in.size());
  for (size_t i = 0; i < in.size(); ++i) reversed[i] = static_cast<int64_t>(in.size() - 1 - i);
  const auto perm = om::GetInts(*problem.node, "perm", reversed);
  const auto strides = Strides(in);
  if (perm.size() != in.size()) return Invalid("perm has {} entries for rank {}", perm.size(), in.size());
  std::vector<bool> seen(in.size());
  View view;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(in.size()) || seen[axis]) return Invalid("perm is no permutation");
    seen[axis] = true;
    view.dims.push_back(in[axis]);
    view.strides.push_back(strides[axis]);
  }
  NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, view.dims));
  return std::vector<View>{view};
}

Result<std::vector<View>> SliceView(const Problem& problem) {
  const om::Dims& in = problem.inputs[0].dims;
  const auto starts = om::GetInts(*problem.node, "starts"), ends = om::GetInts(*problem.node, "ends");
  std::vector<int64_t> every(starts.size());
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int64_t>(i);
  const auto axes = om::GetInts(*problem.node, "axes", every);
  const auto steps = om::GetInts(*problem.node, "steps", std::vector<int64_t>(starts.size(), 1));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return Invalid("starts, ends, axes and steps differ in length");
  View view{in, Strides(in), 0};
  std::vector<bool> seen(in.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(axes[i], in.size()));
    if (seen[axis]) return Invalid("axis {} is sliced twice", axis);
    seen[axis] = true;
    const int64_t size = in[axis], step = steps[i];
    if (step == 0 || step < -size - 1 || step == INT64_MIN) return Invalid("step {}", step);
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto normal = [&](int64_t x) { return std::clamp(x < 0 ? (x < -size ? low : x + size) : x, low, high); };
    const int64_t start = normal(starts[i]), end = normal(ends[i]);
    const int64_t span = step > 0 ? end - start : start - end,
                  stride = std::min(step > 0 ? step : -step, std::max<int64_t>(size, 1));
    view.dims[axis] = span <= 0 ? 0 : (span - 1) / stride + 1;
    view.offset += start * view.strides[axis];
    view.strides[axis] *= step > 0 ? stride : -stride;
  }
  NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, view.dims));
  return std::vector<View>{view};
}

Result<std::vector<View>> SplitView(const Problem& problem) {
  const om::Dims& in = problem.inputs[0].dims;
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), in.size()));
  std::vector<View> views;
  int64_t start = 0;
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    View view{in, Strides(in), 0};
    if (problem.outputs[i].dims.size() != in.size()) return Invalid("output {} has another rank", i);
    view.dims[axis] = problem.outputs[i].dims[axis];
    view.offset = start * view.strides[axis];
    start += view.dims[axis];
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, i, view.dims));
    if (start > in[axis]) return Invalid("the parts are larger than the whole");
    views.push_back(std::move(view));
  }
  return views;
}

Result<std::vector<View>> ExpandView(const Problem& problem) {
  const om::Dims &in = problem.inputs[0].dims, &out = problem.outputs[0].dims;
  if (in.size() > out.size()) return Invalid("{} does not expand to {}", DimsText(in), DimsText(out));
  const size_t missing = out.size() - in.size();
  const auto strides = Strides(in);
  View view{out, std::vector<int64_t>(out.size(), 0), 0};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    if (in[axis] != 1 && in[axis] != out[axis + missing])
      return Invalid("{} does not expand to {}", DimsText(in), DimsText(out));
    if (in[axis] != 1) view.strides[axis + missing] = strides[axis];
  }
  return std::vector<View>{view};
}

Result<std::vector<View>> TileView(const Problem& problem) {
  const om::Dims &in = problem.inputs[0].dims, &out = problem.outputs[0].dims;
  const auto repeats = om::GetInts(*problem.node, "repeats");
  if (repeats.size() != in.size() || out.size() != in.size())
    return Invalid("repeats has {} entries for rank {}", repeats.size(), in.size());
  const auto strides = Strides(in);
  View view;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    int64_t size = 0;
    if (repeats[axis] < 0 || __builtin_mul_overflow(in[axis], repeats[axis], &size) || out[axis] != size)
      return Invalid("repeats do not give {}", DimsText(out));
    view.dims.insert(view.dims.end(), {repeats[axis], in[axis]});
    view.strides.insert(view.strides.end(), {0, strides[axis]});
  }
  return std::vector<View>{view};
}

Result<std::vector<View>> ReshapeView(const Problem& problem) {
  const int64_t count = om::ElementCount(problem.inputs[0].dims);
  if (count != om::ElementCount(problem.outputs[0].dims)) {
    return Invalid("{} does not reshape to {}", DimsText(problem.inputs[0].dims), DimsText(problem.outputs[0].dims));
  }
  return std::vector<View>{{{count}, {1}, 0}};
}

// Depth and space trade places in blocks of b: the channel axis splits into (b, b, c) or (c, b, b).
Result<std::vector<View>> DepthSpaceView(const Problem& problem) {
  const om::Dims &in = problem.inputs[0].dims, &out = problem.outputs[0].dims;
  const int64_t b = om::GetInt(*problem.node, "blocksize", 0);
  if (in.size() != 4 || out.size() != 4 || b < 1 || b > 4096) return Invalid("rank {} or block size {}", in.size(), b);
  const bool to_space = problem.node->op == "DepthToSpace";
  const om::Dims& deep = to_space ? in : out;
  const om::Dims& wide = to_space ? out : in;
  const bool fits = deep[1] % (b * b) == 0 && wide == om::Dims{deep[0], deep[1] / (b * b), deep[2] * b, deep[3] * b};
  if (!fits) return Invalid("{} and {} do not fit block size {}", DimsText(in), DimsText(out), b);
  const auto s = Strides(in);
  const int64_t c = wide[1];
  if (!to_space)
    return std::vector<View>{{{in[0], b, b, c, out[2], out[3]}, {s[0], s[2], s[3], s[1], s[2] * b, s[3] * b}, 0}};
  const bool crd = om::GetString(*problem.node, "mode", "DCR") == "CRD";
  const int64_t by = crd ? s[1] * b : s[1] * c * b, bx = crd ? s[1] : s[1] * c, channel = crd ? s[1] * b * b : s[1];
  return std::vector<View>{{{in[0], c, in[2], b, in[3], b}, {s[0], channel, s[2], by, s[3], bx}, 0}};
}

Result<std::vector<View>> Views(const Problem& problem) {
  const std::string& op = problem.node->op;
  if (op == "Transpose") return TransposeView(problem);
  if (op == "Slice") return SliceView(problem);
  if (op == "Split") return SplitView(problem);
  if (op == "Expand") return ExpandView(problem);
  if (op == "Tile") return TileView(problem);
  if (op == "Reshape") return ReshapeView(problem);
  return DepthSpaceView(problem);
}

// Whether a transposition brings the channels of a blocked tensor to the end.
bool MovesChannelsLast(const Problem& problem) {
  const om::Dims& in = problem.inputs[0].dims;
  if (problem.node->op != "Transpose" || problem.inputs[0].type != om::DataType::kFloat32 || in.size() < 3)
    return false;
  om::Dims wanted = {0};
  for (size_t axis = 2; axis < in.size(); ++axis) wanted.push_back(static_cast<int64_t>(axis));
  wanted.push_back(1);
  return om::GetInts(*problem.node, "perm") == wanted;
}

template <int64_t block>
std::unique_ptr<Executor> ChannelsLastExecutor(const Problem& problem) {
  const TensorInfo& in = problem.inputs[0];
  const int64_t channels = in.dims[1], groups = (channels + block - 1) / block;
  const int64_t images = in.dims[0];
  const int64_t pixels = om::ElementCount(in.dims) / std::max<int64_t>(1, images * channels);
  return MakeExecutor([=](const Arguments& a) {
    for (int64_t n = 0; n < images; ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        const float* from = In<float>(a, 0) + (n * groups + g) * pixels * block;
        float* to = Out<float>(a) + n * pixels * channels + g * block;
        const auto lanes = static_cast<size_t>(std::min(block, channels - g * block));
        if (lanes == block) {
          for (int64_t p = 0; p < pixels; ++p) std::memcpy(to + p * channels, from + p * block, block * sizeof(float));
        } else {
          for (int64_t p = 0; p < pixels; ++p) std::copy_n(from + p * block, lanes, to + p * channels);
        }
      }
    }
  });
}

class Move final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1, problem.node->op == "Split" ? problem.outputs.size() : 1));
    for (const TensorInfo& output : problem.outputs) {
      if (output.type != problem.inputs[0].type) return Invalid("types differ");
    }
    return Views(problem).status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, "strided copy");
    if (MovesChannelsLast(problem) && problem.inputs[0].layout != om::Layout::kPlain) {
      choice.inputs[0] = problem.inputs[0].layout;
      choice.implementation = "channels last";
    }
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    if (MovesChannelsLast(problem) && problem.inputs[0].layout != om::Layout::kPlain) {
      if (problem.outputs[0].layout != om::Layout::kPlain) return Invalid("the result must be plain");
      return problem.inputs[0].layout == om::Layout::kBlocked16 ? ChannelsLastExecutor<16>(problem)
                                                                : ChannelsLastExecutor<8>(problem);
    }
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<View> views, Views(problem));
    const size_t element = om::SizeOf(problem.inputs[0].type);
    std::vector<std::pair<int64_t, StridedCopy>> copies;
    for (const View& view : views) {
      copies.emplace_back(view.offset * static_cast<int64_t>(element),
                          StridedCopy(view.dims, view.strides, Strides(view.dims), element, problem.isa));
    }
    return MakeExecutor([copies = std::move(copies)](const Arguments& a) {
      for (size_t i = 0; i < copies.size(); ++i) copies[i].second.Run(a.inputs[0] + copies[i].first, a.outputs[i]);
    });
  }
};

}  // namespace

const Kernel* MoveKernel() {
  static const Move kernel;
  return &kernel;
}

}  // namespace npustream::kernels
