#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/import_volume.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

std::vector<om::TensorId> ConvInputs(const ImportContext& context) {
  std::vector<om::TensorId> inputs = {context.InputId(0), context.InputId(1)};
  if (context.HasInput(2)) inputs.push_back(context.InputId(2));
  return inputs;
}

Status CheckBias(const ImportContext& context, int64_t channels) {
  if (!context.HasInput(2) || context.Dims(2) == om::Dims{channels}) return {};
  return context.Error(fmt::format("the bias [{}] does not have {} values", fmt::join(context.Dims(2), ","), channels));
}

Result<std::vector<int64_t>> KernelOf(const ImportContext& context) {
  const om::Dims& x = context.Dims(0);
  const om::Dims& w = context.Dims(1);
  if (x.size() < 3 || w.size() != x.size()) {
    return context.Error(
        fmt::format("input [{}] and weights [{}] do not go together", fmt::join(x, ","), fmt::join(w, ",")));
  }
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  if (context.HasAttribute("kernel_shape") && context.Ints("kernel_shape") != kernel) {
    return context.Error("kernel_shape differs from the weights' shape");
  }
  return kernel;
}

om::Attributes ConvAttributes(const Window& window, int64_t group) {
  return {{"strides", window.strides}, {"dilations", window.dilations}, {"pads", window.pads}, {"group", group}};
}

// The convolution `op` (or its transpose) of input 0.
Status OutputConv(ImportContext& context, const char* op, const Window& window, int64_t group, int64_t channels) {
  if (window.kernel.size() == 3) return OutputVolumeConv(context, op, window, group, channels);
  om::Dims dims = {context.Dims(0)[0], channels};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  return context.Output(op, ConvInputs(context), ConvAttributes(window, group), std::move(dims));
}

// A one-dimensional convolution is a two-dimensional one of height 1.
Status OutputConv1d(ImportContext& context, const Window& window, int64_t group) {
  const om::Dims &x = context.Dims(0), &w = context.Dims(1);
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x2,
                             context.Emit("Reshape", {context.InputId(0)}, {}, type, {x[0], x[1], 1, x[2]}));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId w2,
                             context.Emit("Reshape", {context.InputId(1)}, {}, type, {w[0], w[1], 1, w[2]}));
  Window flat = window;
  flat.strides.insert(flat.strides.begin(), 1);
  flat.dilations.insert(flat.dilations.begin(), 1);
  flat.pads = {0, window.pads[0], 0, window.pads[1]};
  std::vector<om::TensorId> inputs = {x2, w2};
  if (context.HasInput(2)) inputs.push_back(context.InputId(2));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y2, context.Emit("Conv", std::move(inputs), ConvAttributes(flat, group),
                                                                 type, {x[0], w[0], 1, window.output[0]}));
  return context.Output("Reshape", {y2}, {}, {x[0], w[0], window.output[0]});
}

}  // namespace

Status ImportConv(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelOf(context));
  const om::Dims &x = context.Dims(0), &w = context.Dims(1);
  const int64_t group = context.Int("group", 1);
  if (group < 1 || w[0] < 1 || w[0] % group != 0 || w[1] * group != x[1]) {
    return context.Error(fmt::format("input [{}], weights [{}] and {} groups do not go together", fmt::join(x, ","),
                                     fmt::join(w, ","), group));
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckBias(context, w[0]));
  NPUSTREAM_ASSIGN_OR_RETURN(const Window window, ReadWindow(context, std::move(kernel)));
  if (x.size() == 3) return OutputConv1d(context, window, group);
  return OutputConv(context, "Conv", window, group, w[0]);
}

namespace {

// ONNX's rule for a transposed convolution: what output_shape or auto_pad demand is turned into pads.
Result<om::Dims> TransposedExtents(const ImportContext& context, Window& window) {
  const om::Dims& x = context.Dims(0);
  const size_t spatial = window.kernel.size();
  const std::vector<int64_t> extra = context.Ints("output_padding", std::vector<int64_t>(spatial, 0));
  const std::vector<int64_t> wanted = context.Ints("output_shape");
  const std::string auto_pad = context.String("auto_pad", "NOTSET");
  if (extra.size() != spatial || (!wanted.empty() && wanted.size() != spatial)) {
    return context.Error("output_padding or output_shape has the wrong number of values");
  }
  om::Dims extents(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    if (extra[i] < 0 || extra[i] >= std::max(window.strides[i], window.dilations[i])) {
      return context.Error("output_padding is out of range");
    }
    const int64_t full =
        (x[i + 2] - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] + 1 + extra[i];
    const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    if (!wanted.empty() || same) {
      extents[i] = wanted.empty() ? x[i + 2] * window.strides[i] : wanted[i];
      // What a larger result has beyond the full one is the bias alone.
      const int64_t total = std::max<int64_t>(0, full - extents[i]);
      if (extents[i] - full >= window.strides[i])
        return context.Unsupported("output_shape is larger than the full result");
      const int64_t half = total / 2;
      window.pads[i] = auto_pad == "SAME_UPPER" ? half : total - half;
      window.pads[i + spatial] = total - window.pads[i];
    } else {
      extents[i] = full - window.pads[i] - window.pads[i + spatial];
    }
    if (extents[i] <= 0) return context.Error("its result is empty");
  }
  return extents;
}

}  // namespace

Status ImportConvTranspose(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelOf(context));
  const om::Dims &x = context.Dims(0), &w = context.Dims(1);
  const size_t spatial = kernel.size();
  const int64_t group = context.Int("group", 1);
  if (group < 1 || w[0] != x[1] || w[0] % group != 0) {
    return context.Error(fmt::format("input [{}], weights [{}] and {} groups do not go together", fmt::join(x, ","),
                                     fmt::join(w, ","), group));
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckBias(context, w[1] * group));
  Window window;
  window.kernel = std::move(kernel);
  window.strides = context.Ints("strides", std::vector<int64_t>(spatial, 1));
  window.dilations = context.Ints("dilations", std::vector<int64_t>(spatial, 1));
  window.pads = context.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  NPUSTREAM_RETURN_IF_ERROR(CheckWindowLists(context, window, spatial));
  NPUSTREAM_ASSIGN_OR_RETURN(window.output, TransposedExtents(context, window));
  return OutputConv(context, "ConvTranspose", window, group, w[1] * group);
}

}  // namespace npustream::compiler
