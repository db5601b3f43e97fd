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
  om::Attributes attributes = PoolAttributes(window);
  attributes["count_include_pad"] = int64_t{0};
  return context.Output("AveragePool", {pad}, std::move(attributes), PooledDims(context, window));
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
  return context.Output("MaxPool", {context.InputId(0)}, PoolAttributes(window), PooledDims(context, window));
}

Status ImportAveragePool(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(context));
  const int64_t counts_pad = context.Int("count_include_pad", 0) != 0 ? 1 : 0;
  if (counts_pad != 0 && window.ceil_padded) return OutputPaddedAverage(context, window);
  om::Attributes attributes = PoolAttributes(window);
  attributes["count_include_pad"] = counts_pad;
  return context.Output("AveragePool", {context.InputId(0)}, std::move(attributes), PooledDims(context, window));
}

Status ImportGlobalAveragePool(ImportContext& context) { return ImportGlobalPool(context, "GlobalAveragePool"); }
Status ImportGlobalMaxPool(ImportContext& context) { return ImportGlobalPool(context, "GlobalMaxPool"); }

}  // namespace npustream::compiler
