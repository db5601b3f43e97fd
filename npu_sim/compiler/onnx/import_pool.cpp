#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Appends the pooling of input 0, whose dims are those of the result but for the spatial ones. Maxima and means over a
// box are those over its depth of those over its height and width: volumes are pooled as pictures, twice.
Status OutputPool(ImportContext& context, const char* op, om::TensorId x, const Window& window,
                  const om::Attributes& more) {
  const auto attributes = [&](const Window& part) {
    om::Attributes all = PoolAttributes(part);
    all.insert(more.begin(), more.end());
    return all;
  };
  if (window.kernel.size() != 3) return context.Output(op, {x}, attributes(window), PooledDims(context, window));
  const om::Dims dims = context.Tensor(x).dims;
  const om::DataType type = context.Input(0).type;
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
  return context.Output("Reshape", {boxes}, {}, PooledDims(context, window));
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
  if (context.Int("storage_order", 0) != 0) return context.Unsupported("column-major indices are not supported");
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(context));
  return OutputPool(context, "MaxPool", context.InputId(0), window, {});
}

Status ImportAveragePool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(context));
  const int64_t counts_pad = context.Int("count_include_pad", 0) != 0 ? 1 : 0;
  if (counts_pad != 0 && window.ceil_padded) return OutputPaddedAverage(context, window);
  return OutputPool(context, "AveragePool", context.InputId(0), window, {{"count_include_pad", counts_pad}});
}

Status ImportGlobalAveragePool(ImportContext& context) { return ImportGlobalPool(context, "GlobalAveragePool"); }
Status ImportGlobalMaxPool(ImportContext& context) { return ImportGlobalPool(context, "GlobalMaxPool"); }

}  // namespace npustream::compiler
