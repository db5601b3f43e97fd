#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

om::Dims PooledDims(const ImportContext& context, const Window& window) {
  om::Dims dims = {context.Dims(0)[0], context.Dims(0)[1]};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  return dims;
}

// The window of a pooling. Padding as wide as the window would make results of nothing.
Result<Window> ReadPoolWindow(const ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(Window window, ReadWindow(context, context.Ints("kernel_shape")));
  const size_t spatial = window.kernel.size();
  const std::vector<int64_t> pads = context.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] >= window.kernel[i % spatial])
      return context.Error(fmt::format("padding of {} for a window of {}", pads[i], window.kernel[i % spatial]));
  }
  return window;
}

om::Attributes PoolAttributes(const Window& window) {
  return {{"kernel_shape", window.kernel},
          {"strides", window.strides},
          {"dilations", window.dilations},
          {"pads", window.pads}};
}

// Pads of a Pad node for the spatial pads of a window.
std::vector<int64_t> FullPads(const std::vector<int64_t>& pads) {
  const size_t spatial = pads.size() / 2;
  std::vector<int64_t> full(2 * (spatial + 2));
  for (size_t i = 0; i < spatial; ++i) {
    full[i + 2] = pads[i];
    full[i + 2 + spatial + 2] = pads[i + spatial];
  }
  return full;
}

// The part of a window's lists that belongs to the spatial axes [first, last).
Window AxesOf(const Window& window, size_t first, size_t last) {
  const auto part = [&](const std::vector<int64_t>& values, size_t offset = 0) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(offset);
    return std::vector<int64_t>(from + static_cast<std::ptrdiff_t>(first), from + static_cast<std::ptrdiff_t>(last));
  };
  Window result;
  result.kernel = part(window.kernel), result.strides = part(window.strides);
  result.dilations = part(window.dilations), result.output = part(window.output);
  result.pads = part(window.pads);
  const std::vector<int64_t> ends = part(window.pads, window.kernel.size());
  result.pads.insert(result.pads.end(), ends.begin(), ends.end());
  result.ceil_padded = window.ceil_padded;
  return result;
}

// Appends the pooling of `x`, whose dims are those of the result but for the spatial ones. Maxima and means over a box
// are those over its depth of those over its height and width: volumes are pooled as pictures, twice.
Result<om::TensorId> EmitPool(ImportContext& context, const char* op, om::TensorId x, const Window& window,
                              const om::Attributes& more) {
  const auto attributes = [&](const Window& part) {
    om::Attributes all = PoolAttributes(part);
    all.insert(more.begin(), more.end());
    return all;
  };
  const om::Dims dims = context.Tensor(x).dims;
  const om::DataType type = context.Tensor(x).type;
  if (window.kernel.size() != 3) return context.Emit(op, {x}, attributes(window), type, PooledDims(context, window));
  const Window face = AxesOf(window, 1, 3);
  Window depth = AxesOf(window, 0, 1);
  for (auto* list : {&depth.kernel, &depth.strides, &depth.dilations}) list->push_back(1);
  depth.pads = {depth.pads[0], 0, depth.pads[1], 0};
  const int64_t pixels = face.output[0] * face.output[1];
  const om::Dims slices = {dims[0], dims[1] * dims[2], dims[3], dims[4]},
                 pooled = {dims[0], slices[1], face.output[0], face.output[1]},
                 columns = {dims[0], dims[1], dims[2], pixels}, result = {dims[0], dims[1], depth.output[0], pixels};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId flat, context.Emit("Reshape", {x}, {}, type, slices));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId faces, context.Emit(op, {flat}, attributes(face), type, pooled));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId stacked, context.Emit("Reshape", {faces}, {}, type, columns));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId boxes, context.Emit(op, {stacked}, attributes(depth), type, result));
  return context.Emit("Reshape", {boxes}, {}, type, PooledDims(context, window));
}

Status OutputPool(ImportContext& context, const char* op, om::TensorId x, const Window& window,
                  const om::Attributes& more) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, EmitPool(context, op, x, window, more));
  return context.Bind(0, result);
}

// Where padding counts and ceil_mode adds places that do not count, the padding becomes a node of its own.
Status OutputPaddedAverage(ImportContext& context, Window window) {
  const std::vector<int64_t> counted = context.Ints("pads", std::vector<int64_t>(2 * window.kernel.size(), 0));
  om::Dims padded = context.Dims(0);
  const size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i) padded[i + 2] += counted[i] + counted[i + spatial];
  NPUSTREAM_ASSIGN_OR_RETURN(
      const om::TensorId pad,
      context.Emit("Pad", {context.InputId(0)}, {{"pads", FullPads(counted)}, {"mode", "constant"}, {"value", 0.0f}},
                   context.Input(0).type, padded));
  for (size_t i = 0; i < window.pads.size(); ++i) window.pads[i] -= counted[i];
  return OutputPool(context, "AveragePool", pad, window, {{"count_include_pad", int64_t{0}}});
}

Status ImportGlobalPool(ImportContext& context, const char* op) {
  if (context.Rank(0) < 3) return context.Error(fmt::format("its input has {} dimensions", context.Rank(0)));
  om::Dims dims = context.Dims(0);
  for (size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  return context.Output(op, {context.InputId(0)}, {}, std::move(dims));
}

}  // namespace

Status ImportMaxPool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(context));
  const om::DataType type = context.Input(0).type;
  // Real numbers hold small integers exactly.
  const bool whole = (type == om::DataType::kInt8 || type == om::DataType::kUInt8) && !context.Input(0).quantization;
  om::TensorId x = context.InputId(0);
  if (whole) {
    NPUSTREAM_ASSIGN_OR_RETURN(x, context.Emit("Cast", {x}, {}, om::DataType::kFloat32, context.Dims(0)));
  }
  if (context.WantsOutput(1)) {
    om::Attributes attributes = PoolAttributes(window);
    attributes["storage_order"] = context.Int("storage_order", 0);
    NPUSTREAM_ASSIGN_OR_RETURN(
        const om::TensorId indices,
        context.Emit("MaxPoolIndices", {x}, std::move(attributes), om::DataType::kInt64, PooledDims(context, window)));
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(1, indices));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, EmitPool(context, "MaxPool", x, window, {}));
  if (!whole) return context.Bind(0, result);
  return context.Output("Cast", {result}, {}, type, PooledDims(context, window));
}

namespace {

// The dims before a MaxPool with this window, as far as they are known: the smallest ones.
Result<om::Dims> UnpooledDims(const ImportContext& context) {
  om::Dims dims = context.Dims(0);
  if (dims.size() < 3) return context.Error(fmt::format("its input has {} dimensions, not 3 or more", dims.size()));
  const size_t spatial = dims.size() - 2;
  Window window;
  window.kernel = context.Ints("kernel_shape");
  window.strides = context.Ints("strides", std::vector<int64_t>(spatial, 1));
  window.dilations.assign(spatial, 1);
  window.pads = context.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  NPUSTREAM_RETURN_IF_ERROR(CheckWindowLists(context, window, spatial));
  for (size_t i = 0; i < spatial; ++i) {
    dims[i + 2] = (dims[i + 2] - 1) * window.strides[i] + window.kernel[i] - window.pads[i] - window.pads[i + spatial];
    if (dims[i + 2] < 1) return context.Error("its result is empty");
  }
  return dims;
}

// `x` with zeros behind the ends of its axes. Places count within `x`, also in a result that is wanted larger.
Status OutputEnlarged(ImportContext& context, om::TensorId x, const std::vector<int64_t>& wanted) {
  const om::Dims dims = context.Tensor(x).dims;
  std::vector<int64_t> pads(2 * dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (wanted.size() != dims.size() || wanted[i] < dims[i])
      return context.Error(
          fmt::format("output_shape [{}] does not hold [{}]", fmt::join(wanted, ","), fmt::join(dims, ",")));
    pads[dims.size() + i] = wanted[i] - dims[i];
  }
  return context.Output("Pad", {x}, {{"pads", pads}, {"mode", "constant"}, {"value", 0.0f}}, context.Tensor(x).type,
                        wanted);
}

}  // namespace

// The values are scattered over zeros.
Status ImportMaxUnpool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Dims dims, UnpooledDims(context));
  if (context.Dims(1) != context.Dims(0)) return context.Error("there is not one index per value");
  const om::DataType type = context.Input(0).type;
  const om::Dims count = {om::ElementCount(context.Dims(0))}, all = {om::ElementCount(dims)};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId values, EmitReshape(context, context.InputId(0), count));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId places, EmitReshape(context, context.InputId(1), count));
  const om::TensorId zero = context.Constant(ZeroOf(type, context.node().name + ".zero"));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId zeros, context.Emit("Expand", {zero}, {}, type, all));
  const om::Attributes attributes = {{"axis", int64_t{0}}, {"reduction", "none"}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId flat,
                             context.Emit("ScatterElements", {zeros, places, values}, attributes, type, all));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, EmitReshape(context, flat, dims));
  if (!context.HasInput(2)) return context.Bind(0, result);
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, context.ConstantInts(2, "output_shape"));
  return wanted == dims ? context.Bind(0, result) : OutputEnlarged(context, result, wanted);
}

Status ImportAveragePool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(context));
  const int64_t counts_pad = context.Int("count_include_pad", 0) != 0 ? 1 : 0;
  if (counts_pad != 0 && window.ceil_padded) return OutputPaddedAverage(context, window);
  return OutputPool(context, "AveragePool", context.InputId(0), window, {{"count_include_pad", counts_pad}});
}

Status ImportGlobalAveragePool(ImportContext& context) { return ImportGlobalPool(context, "GlobalAveragePool"); }
Status ImportGlobalMaxPool(ImportContext& context) { return ImportGlobalPool(context, "GlobalMaxPool"); }

namespace {

// |x| to the power of p, or p to its root: `exponent` is p or 1/p.
Result<om::TensorId> EmitPower(ImportContext& context, om::TensorId x, float exponent) {
  const om::Dims dims = context.Tensor(x).dims;
  const om::TensorId power = context.Number(".power", exponent);
  return context.Emit("Pow", {x, power}, {}, context.Tensor(x).type, dims);
}

Result<om::TensorId> EmitAbsolutePower(ImportContext& context, float p) {
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId absolute,
                             context.Emit("Abs", {context.InputId(0)}, {}, type, context.Dims(0)));
  return EmitPower(context, absolute, p);
}

Result<float> NormOf(const ImportContext& context) {
  const int64_t p = context.Int("p", 2);
  if (p < 1 || p > kMaxWindow) return context.Error(fmt::format("p = {} is out of range", p));
  return static_cast<float>(p);
}

}  // namespace

// The root of a sum of powers: the sum is a mean, in which padding counts as zeros, times the window's size.
Status ImportLpPool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const float p, NormOf(context));
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(context));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId powers, EmitAbsolutePower(context, p));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId mean,
                             EmitPool(context, "AveragePool", powers, window, {{"count_include_pad", int64_t{1}}}));
  const auto size = static_cast<float>(om::ElementCount(window.kernel));
  const om::TensorId factor = context.Number(".size", size);
  const om::Dims dims = PooledDims(context, window);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId sum,
                             context.Emit("Mul", {mean, factor}, {}, context.Input(0).type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId root, EmitPower(context, sum, 1 / p));
  return context.Bind(0, root);
}

Status ImportGlobalLpPool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const float p, NormOf(context));
  if (context.Rank(0) < 3) return context.Error(fmt::format("its input has {} dimensions", context.Rank(0)));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId powers, EmitAbsolutePower(context, p));
  om::Dims dims = context.Dims(0);
  std::vector<int64_t> axes;
  for (size_t i = 2; i < dims.size(); ++i) {
    dims[i] = 1;
    axes.push_back(static_cast<int64_t>(i));
  }
  const om::Attributes over = {{"axes", axes}, {"keepdims", int64_t{1}}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId sum,
                             context.Emit("ReduceSum", {powers}, over, context.Input(0).type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId root, EmitPower(context, sum, 1 / p));
  return context.Bind(0, root);
}

}  // namespace npustream::compiler
