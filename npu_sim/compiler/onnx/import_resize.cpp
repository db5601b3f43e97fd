#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

constexpr float kMaxScale = 65536.0f;
constexpr int64_t kMaxSize = 1 << 24;

// Where a Resize of each opset keeps its scales and sizes.
constexpr size_t kScales10 = 1, kScales11 = 2, kSizes11 = 3;

// What one axis is scaled by, and its result.
struct Target {
  std::vector<float> scales;
  om::Dims dims;
};

Result<Target> FromScales(const ImportContext& context, std::vector<float> scales) {
  const om::Dims& x = context.Dims(0);
  if (scales.size() != x.size()) {
    return context.Error(fmt::format("{} scales do not suit {} dimensions", scales.size(), x.size()));
  }
  Target target{std::move(scales), {}};
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(target.scales[i] > 0) || target.scales[i] > kMaxScale) return context.Error("a scale is out of range");
    target.dims.push_back(static_cast<int64_t>(std::floor(static_cast<float>(x[i]) * target.scales[i])));
    if (target.dims.back() < 1) return context.Error("its result is empty");
  }
  return target;
}

Result<Target> FromSizes(const ImportContext& context, const std::vector<int64_t>& sizes) {
  const om::Dims& x = context.Dims(0);
  if (sizes.size() != x.size()) {
    return context.Error(fmt::format("{} sizes do not suit {} dimensions", sizes.size(), x.size()));
  }
  Target target{{}, sizes};
  for (size_t i = 0; i < x.size(); ++i) {
    if (sizes[i] < 1 || x[i] < 1)
      return context.Error(fmt::format("the size [{}] is out of range", fmt::join(sizes, ",")));
    target.scales.push_back(static_cast<float>(sizes[i]) / static_cast<float>(x[i]));
  }
  return target;
}

// Values that are given for some axes, spread over all of them; the others get `rest(axis)`.
template <typename T, typename Rest>
Result<std::vector<T>> SpreadOverAxes(const ImportContext& context, const std::vector<T>& values, Rest rest) {
  if (!context.HasAttribute("axes")) return values;
  const std::vector<int64_t> axes = context.Ints("axes");
  if (axes.size() != values.size()) return context.Error("there is not one value per axis");
  std::vector<T> full;
  for (size_t i = 0; i < context.Dims(0).size(); ++i) full.push_back(rest(i));
  for (size_t i = 0; i < axes.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(axes[i], context.Rank(0)));
    full[static_cast<size_t>(axis)] = values[i];
  }
  return full;
}

// Sizes are bounds where the policy says so: the axes that are resized share the smallest scale (not_larger) or the
// largest one (not_smaller).
Status KeepAspectRatio(const ImportContext& context, std::vector<int64_t>& sizes) {
  const std::string policy = context.String("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return {};
  if (policy != "not_larger" && policy != "not_smaller")
    return context.Error(fmt::format("keep_aspect_ratio_policy '{}' does not exist", policy));
  std::vector<int64_t> axes = context.Ints("axes");
  if (axes.empty()) {
    for (int64_t i = 0; i < context.Rank(0); ++i) axes.push_back(i);
  }
  if (axes.size() != sizes.size() || sizes.empty()) return context.Error("there is not one size per axis");
  std::vector<float> extents;
  float scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(axes[i], context.Rank(0)));
    extents.push_back(static_cast<float>(context.Dims(0)[static_cast<size_t>(axis)]));
    if (sizes[i] < 1 || sizes[i] > kMaxSize || extents[i] < 1) return context.Error("a size is out of range");
    const float own = static_cast<float>(sizes[i]) / extents[i];
    scale = i == 0 ? own : policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const float size = std::floor(scale * extents[i] + 0.5f);
    if (!(size <= static_cast<float>(kMaxSize))) return context.Error("a size is out of range");
    sizes[i] = static_cast<int64_t>(size);
  }
  return {};
}

Result<Target> ReadTarget(const ImportContext& context) {
  const size_t scales_at = context.opset() < 11 ? kScales10 : kScales11;
  const bool has_sizes =
      context.opset() >= 11 && context.HasInput(kSizes11) && om::ElementCount(context.Dims(kSizes11)) > 0;
  if (has_sizes) {
    NPUSTREAM_ASSIGN_OR_RETURN(std::vector<int64_t> given, context.ConstantInts(kSizes11, "the size"));
    NPUSTREAM_RETURN_IF_ERROR(KeepAspectRatio(context, given));
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                               SpreadOverAxes(context, given, [&](size_t i) { return context.Dims(0)[i]; }));
    return FromSizes(context, sizes);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> given, context.ConstantFloats(scales_at, "the scale"));
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<float> scales, SpreadOverAxes(context, given, [](size_t) { return 1.0f; }));
  return FromScales(context, std::move(scales));
}

// The axes that change size or are mapped by a scale.
std::vector<size_t> ResizedAxes(const om::Dims& from, const Target& target) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != target.dims[i] || target.scales[i] != 1) axes.push_back(i);
  }
  return axes;
}

struct Method {
  std::string mode, coordinates, nearest;
};

om::Attributes ResizeAttributes(const ImportContext& context, const Method& method, std::vector<float> scales) {
  return {{"scales", std::move(scales)},
          {"mode", method.mode},
          {"coordinate_transformation_mode", method.coordinates},
          {"nearest_mode", method.nearest},
          {"cubic_coeff_a", context.Float("cubic_coeff_a", -0.75f)},
          {"exclude_outside", context.Int("exclude_outside", 0)}};
}

// Resizes one or two axes of x, which become rows and columns of a picture for it.
Result<om::TensorId> EmitResized(ImportContext& context, om::TensorId x, const Target& target, const Method& method,
                                 const std::vector<size_t>& axes) {
  const om::DataType type = context.Tensor(x).type;
  const om::Dims from = context.Tensor(x).dims;
  std::vector<int64_t> perm, back(from.size());
  om::Dims moved, resized, picture = {1, 1}, larger;
  std::vector<float> scales = {1, 1};
  for (size_t i = 0; i < from.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) perm.push_back(static_cast<int64_t>(i));
  }
  for (const int64_t axis : perm) picture[1] *= from[static_cast<size_t>(axis)];
  for (const size_t axis : axes) {
    perm.push_back(static_cast<int64_t>(axis));
    picture.push_back(from[axis]);
    scales.push_back(target.scales[axis]);
  }
  larger = picture;
  for (size_t i = 0; i < axes.size(); ++i) larger[2 + i] = target.dims[axes[i]];
  om::Dims result = from;
  for (const size_t axis : axes) result[axis] = target.dims[axis];
  for (size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    moved.push_back(from[static_cast<size_t>(perm[i])]);
    resized.push_back(result[static_cast<size_t>(perm[i])]);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit("Transpose", {x}, {{"perm", perm}}, type, moved));
  NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit("Reshape", {x}, {}, type, picture));
  NPUSTREAM_ASSIGN_OR_RETURN(
      x, context.Emit("Resize", {x}, ResizeAttributes(context, method, std::move(scales)), type, larger));
  NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit("Reshape", {x}, {}, type, resized));
  return context.Emit("Transpose", {x}, {{"perm", back}}, type, result);
}

// The kernel does rows and columns of pictures; whatever else a model resizes is brought into that form, two axes at a
// time.
Status OutputResize(ImportContext& context, Target target, const Method& method) {
  const size_t rank = context.Dims(0).size();
  const std::vector<size_t> axes = ResizedAxes(context.Dims(0), target);
  if ((rank == 3 || rank == 4) && (axes.empty() || axes[0] >= 2)) {
    return context.Output("Resize", {context.InputId(0)}, ResizeAttributes(context, method, std::move(target.scales)),
                          std::move(target.dims));
  }
  om::TensorId x = context.InputId(0);
  for (size_t i = 0; i < axes.size(); i += 2) {
    const std::vector<size_t> pair(axes.begin() + static_cast<std::ptrdiff_t>(i),
                                   axes.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, axes.size())));
    NPUSTREAM_ASSIGN_OR_RETURN(x, EmitResized(context, x, target, method, pair));
  }
  return context.Output("Reshape", {x}, {}, context.Input(0).type, std::move(target.dims));
}

Status CheckOneOf(const ImportContext& context, const char* name, const std::string& value,
                  std::initializer_list<const char*> known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return {};
  return context.Unsupported(fmt::format("{} '{}' is not supported", name, value));
}

}  // namespace

Status ImportResize(ImportContext& context) {
  const std::string mode = context.String("mode", "nearest");
  // Opset 10 knew one way of mapping coordinates only.
  const bool old = context.opset() < 11;
  const std::string coordinates = old ? "asymmetric" : context.String("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = old ? "floor" : context.String("nearest_mode", "round_prefer_floor");
  NPUSTREAM_RETURN_IF_ERROR(CheckOneOf(context, "mode", mode, {"nearest", "linear", "cubic"}));
  NPUSTREAM_RETURN_IF_ERROR(CheckOneOf(context, "coordinate_transformation_mode", coordinates,
                                       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                        "asymmetric", "tf_half_pixel_for_nn"}));
  NPUSTREAM_RETURN_IF_ERROR(
      CheckOneOf(context, "nearest_mode", nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (context.Int("antialias", 0) != 0) return context.Unsupported("antialias is not supported");
  NPUSTREAM_ASSIGN_OR_RETURN(Target target, ReadTarget(context));
  return OutputResize(context, std::move(target), {mode, coordinates, nearest});
}

// The predecessor of Resize (opsets 7 to 9).
Status ImportUpsample(ImportContext& context) {
  const std::string mode = context.String("mode", "nearest");
  NPUSTREAM_RETURN_IF_ERROR(CheckOneOf(context, "mode", mode, {"nearest", "linear"}));
  std::vector<float> scales;
  if (context.opset() < 9) {
    const auto found = context.node().attributes.find("scales");
    if (found != context.node().attributes.end()) {
      if (const auto* list = std::get_if<std::vector<float>>(&found->second)) scales = *list;
    }
  } else {
    NPUSTREAM_ASSIGN_OR_RETURN(scales, context.ConstantFloats(1, "the scale"));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(Target target, FromScales(context, std::move(scales)));
  return OutputResize(context, std::move(target), {mode, "asymmetric", "floor"});
}

}  // namespace npustream::compiler
