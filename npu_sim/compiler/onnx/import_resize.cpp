#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
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

// `roi` as a Resize has it; empty when the whole picture is shown.
Result<Target> FromScales(const ImportContext& context, std::vector<float> scales, const std::vector<float>& roi = {}) {
  const om::Dims& x = context.Dims(0);
  if (scales.size() != x.size()) {
    return context.Error(fmt::format("{} scales do not suit {} dimensions", scales.size(), x.size()));
  }
  Target target{std::move(scales), {}};
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(target.scales[i] > 0) || target.scales[i] > kMaxScale) return context.Error("a scale is out of range");
    const float shown = roi.empty() ? 1 : roi[i + x.size()] - roi[i];
    if (!(shown >= -kMaxScale && shown <= kMaxScale)) return context.Error("the region is out of range");
    target.dims.push_back(static_cast<int64_t>(std::floor(static_cast<float>(x[i]) * shown * target.scales[i])));
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

Result<Target> ReadTarget(const ImportContext& context, const std::vector<float>& roi) {
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
  return FromScales(context, std::move(scales), roi);
}

// The part of a picture that tf_crop_and_resize shows: where it begins on every axis, then where it ends, as shares.
Result<std::vector<float>> ReadRoi(const ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> given, context.ConstantFloats(1, "the region of interest"));
  const auto half = static_cast<std::ptrdiff_t>(given.size() / 2);
  NPUSTREAM_ASSIGN_OR_RETURN(
      std::vector<float> roi,
      SpreadOverAxes(context, std::vector<float>(given.begin(), given.begin() + half), [](size_t) { return 0.0f; }));
  NPUSTREAM_ASSIGN_OR_RETURN(
      const std::vector<float> ends,
      SpreadOverAxes(context, std::vector<float>(given.begin() + half, given.end()), [](size_t) { return 1.0f; }));
  roi.insert(roi.end(), ends.begin(), ends.end());
  if (roi.size() == 2 * context.Dims(0).size()) return roi;
  return context.Error(fmt::format("a region of {} values does not suit {} dimensions", given.size(), context.Rank(0)));
}

// Resizes axis by axis where the kernel does not do all of it at once.
class ResizeAxes {
 public:
  ResizeAxes(ImportContext& context, Target target, om::Attributes attributes, std::vector<float> roi)
      : context_(context), target_(std::move(target)), attributes_(std::move(attributes)), roi_(std::move(roi)) {}

  Result<om::TensorId> Emit() {
    const om::Dims& x = context_.Dims(0);
    const bool picture = (x.size() == 3 || x.size() == 4) && !Changes(0);
    const bool at_once = picture && (!Changes(1) || (x.size() == 4 && !Changes(3)));
    if (at_once) return EmitNode(context_.InputId(0), target_.dims, target_.scales, roi_);
    om::TensorId result = context_.InputId(0);
    for (size_t axis = 0; axis < x.size(); ++axis) {
      if (!Changes(axis)) continue;
      NPUSTREAM_ASSIGN_OR_RETURN(result, EmitAxis(result, axis));
    }
    return result;
  }

 private:
  bool Changes(size_t axis) const {
    const size_t rank = target_.dims.size();
    return target_.dims[axis] != context_.Dims(0)[axis] || target_.scales[axis] != 1 ||
           (!roi_.empty() && (roi_[axis] != 0 || roi_[axis + rank] != 1));
  }

  // As the height of a picture.
  Result<om::TensorId> EmitAxis(om::TensorId x, size_t axis) {
    om::Dims dims = context_.Tensor(x).dims;
    const auto at = dims.begin() + static_cast<std::ptrdiff_t>(axis);
    om::Dims picture = {om::ElementCount(om::Dims(dims.begin(), at)), 1, *at,
                        om::ElementCount(om::Dims(at + 1, dims.end()))};
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId before, EmitReshape(context_, x, picture));
    picture[2] = *at = target_.dims[axis];
    std::vector<float> roi;
    if (!roi_.empty()) roi = {0, 0, roi_[axis], 0, 1, 1, roi_[axis + dims.size()], 1};
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId after,
                               EmitNode(before, picture, {1, 1, target_.scales[axis], 1}, std::move(roi)));
    return EmitReshape(context_, after, dims);
  }

  Result<om::TensorId> EmitNode(om::TensorId x, om::Dims dims, std::vector<float> scales, std::vector<float> roi) {
    om::Attributes attributes = attributes_;
    attributes["scales"] = std::move(scales);
    if (!roi.empty()) attributes["roi"] = std::move(roi);
    return context_.Emit("Resize", {x}, std::move(attributes), context_.Input(0).type, std::move(dims));
  }

  ImportContext& context_;
  Target target_;
  om::Attributes attributes_;
  std::vector<float> roi_;
};

// Which places of an axis of `out` places lie within the `in` pixels of the source, when [begin, end] of it is shown.
std::vector<bool> Inside(int64_t in, int64_t out, float begin, float end) {
  std::vector<bool> inside;
  const float last = static_cast<float>(in - 1);
  for (int64_t i = 0; i < out; ++i) {
    const float place = out == 1
                            ? 0.5f * (begin + end) * last
                            : begin * last + static_cast<float>(i) * (end - begin) * last / static_cast<float>(out - 1);
    inside.push_back(place >= 0 && place <= last);
  }
  return inside;
}

// `x`, but the extrapolation value where a place lies outside the source.
Result<om::TensorId> EmitExtrapolated(ImportContext& context, om::TensorId x, const std::vector<float>& roi) {
  const om::Dims dims = context.Tensor(x).dims;
  om::TensorId result = x;
  const float value = context.Float("extrapolation_value", 0);
  const om::TensorId fill = context.Number(".extrapolation", value);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const std::vector<bool> inside = Inside(context.Dims(0)[axis], dims[axis], roi[axis], roi[axis + dims.size()]);
    if (std::find(inside.begin(), inside.end(), false) == inside.end()) continue;
    om::Bytes content;
    for (const bool is : inside) content.push_back(std::byte{is});
    om::Dims mask_dims(dims.size(), 1);
    mask_dims[axis] = dims[axis];
    const om::TensorId mask = context.Constant({context.node().name + ".inside", om::DataType::kBool, mask_dims,
                                                std::make_shared<const om::Bytes>(std::move(content))});
    NPUSTREAM_ASSIGN_OR_RETURN(result, context.Emit("Where", {mask, result, fill}, {}, context.Tensor(x).type, dims));
  }
  return result;
}

Status OutputResize(ImportContext& context, Target target, const std::string& mode, const std::string& coordinates,
                    const std::string& nearest, const std::vector<float>& roi = {}) {
  om::Attributes attributes = {{"mode", mode},
                               {"coordinate_transformation_mode", coordinates},
                               {"nearest_mode", nearest},
                               {"cubic_coeff_a", context.Float("cubic_coeff_a", -0.75f)},
                               {"exclude_outside", context.Int("exclude_outside", 0)}};
  for (const int64_t dim : target.dims) {
    if (dim > kMaxSize) return context.Error(fmt::format("a result of {} places is out of range", dim));
  }
  if (context.Int("antialias", 0) != 0) attributes["antialias"] = int64_t{1};
  NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId result,
                             ResizeAxes(context, std::move(target), std::move(attributes), roi).Emit());
  if (!roi.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(result, EmitExtrapolated(context, result, roi));
  }
  return context.Bind(0, result);
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
                                        "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  NPUSTREAM_RETURN_IF_ERROR(
      CheckOneOf(context, "nearest_mode", nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  std::vector<float> roi;
  if (coordinates == "tf_crop_and_resize") {
    NPUSTREAM_ASSIGN_OR_RETURN(roi, ReadRoi(context));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(Target target, ReadTarget(context, roi));
  return OutputResize(context, std::move(target), mode, coordinates, nearest, roi);
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
  return OutputResize(context, std::move(target), mode, "asymmetric", "floor");
}

}  // namespace npustream::compiler
