#include "npu_sim/compiler/onnx/import_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace npustream::compiler {
namespace {

Status CheckList(const ImportContext& context, const char* name, const std::vector<int64_t>& values, size_t count,
                 int64_t smallest) {
  if (values.size() != count) {
    return context.Error(fmt::format("{} has {} values where {} are needed", name, values.size(), count));
  }
  for (const int64_t value : values) {
    if (value < smallest || value > kMaxWindow) {
      return context.Error(fmt::format("{} [{}] is out of range", name, fmt::join(values, ",")));
    }
  }
  return {};
}

// Pads for auto_pad=SAME_*: the result has ceil(in / stride) places.
void PadSame(Window& window, size_t axis, int64_t in, bool upper) {
  const int64_t reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
  const int64_t out = (in + window.strides[axis] - 1) / window.strides[axis];
  const int64_t total = std::max<int64_t>(0, (out - 1) * window.strides[axis] + reach - in);
  const size_t spatial = window.kernel.size();
  window.pads[axis] = upper ? total / 2 : total - total / 2;
  window.pads[axis + spatial] = total - window.pads[axis];
}

// The result's extent on one axis; with ceil_mode the end is padded so that the last window fits.
int64_t OutputExtent(Window& window, size_t axis, int64_t in, bool ceil_mode) {
  const size_t spatial = window.kernel.size();
  const int64_t reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
  const int64_t stride = window.strides[axis];
  const int64_t begin = window.pads[axis];
  int64_t& end = window.pads[axis + spatial];
  const int64_t room = in + begin + end - reach;
  if (room < 0) return 0;
  int64_t out = room / stride + 1;
  if (ceil_mode && room % stride != 0 && out * stride < in + begin) {
    // One more window, which must start inside the input or the padding before it.
    ++out;
    const int64_t missing = (out - 1) * stride + reach - (in + begin + end);
    end += missing;
    window.ceil_padded = true;
  }
  return out;
}

Status ReadPads(const ImportContext& context, Window& window, const om::Dims& spatial_dims) {
  const size_t spatial = window.kernel.size();
  const std::string auto_pad = context.String("auto_pad", "NOTSET");
  window.pads.assign(2 * spatial, 0);
  if (auto_pad == "NOTSET" || auto_pad.empty()) {
    if (context.HasAttribute("pads")) window.pads = context.Ints("pads");
    return CheckList(context, "pads", window.pads, 2 * spatial, 0);
  }
  if (auto_pad == "VALID") return {};
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") {
    return context.Error(fmt::format("auto_pad '{}' does not exist", auto_pad));
  }
  for (size_t i = 0; i < spatial; ++i) PadSame(window, i, spatial_dims[i], auto_pad == "SAME_UPPER");
  return {};
}

}  // namespace

std::optional<om::Dims> BroadcastDims(const om::Dims& a, const om::Dims& b) {
  om::Dims result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) return std::nullopt;
    result[result.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

Result<std::vector<int64_t>> NormaliseAxes(const ImportContext& context, std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    NPUSTREAM_ASSIGN_OR_RETURN(axis, context.Axis(axis, rank));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return context.Error("it names an axis twice");
  return axes;
}

Result<std::optional<std::vector<int64_t>>> AxesArgument(const ImportContext& context, size_t input_index,
                                                         int64_t input_since) {
  using Axes = std::optional<std::vector<int64_t>>;
  if (context.opset() < input_since) {
    return context.HasAttribute("axes") ? Axes(context.Ints("axes")) : Axes();
  }
  if (!context.HasInput(input_index)) return Axes();
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<int64_t> axes, context.ConstantInts(input_index, "the list of axes"));
  return Axes(std::move(axes));
}

Result<Window> ReadWindow(const ImportContext& context, std::vector<int64_t> kernel) {
  const om::Dims& dims = context.Dims(0);
  if (dims.size() < 3) return context.Error(fmt::format("its input has {} dimensions, not 3 or more", dims.size()));
  const size_t spatial = dims.size() - 2;
  const om::Dims spatial_dims(dims.begin() + 2, dims.end());
  Window window;
  window.kernel = std::move(kernel);
  window.strides = context.Ints("strides", std::vector<int64_t>(spatial, 1));
  window.dilations = context.Ints("dilations", std::vector<int64_t>(spatial, 1));
  NPUSTREAM_RETURN_IF_ERROR(CheckList(context, "kernel_shape", window.kernel, spatial, 1));
  NPUSTREAM_RETURN_IF_ERROR(CheckList(context, "strides", window.strides, spatial, 1));
  NPUSTREAM_RETURN_IF_ERROR(CheckList(context, "dilations", window.dilations, spatial, 1));
  NPUSTREAM_RETURN_IF_ERROR(ReadPads(context, window, spatial_dims));
  for (size_t i = 0; i < spatial; ++i) {
    window.output.push_back(OutputExtent(window, i, spatial_dims[i], context.Int("ceil_mode", 0) != 0));
    if (window.output.back() <= 0) {
      return context.Error(fmt::format("a window of [{}] does not fit into an input of [{}]",
                                       fmt::join(window.kernel, ","), fmt::join(dims, ",")));
    }
  }
  return window;
}

Status CheckWindowLists(const ImportContext& context, const Window& window, size_t spatial) {
  NPUSTREAM_RETURN_IF_ERROR(CheckList(context, "kernel_shape", window.kernel, spatial, 1));
  NPUSTREAM_RETURN_IF_ERROR(CheckList(context, "strides", window.strides, spatial, 1));
  NPUSTREAM_RETURN_IF_ERROR(CheckList(context, "dilations", window.dilations, spatial, 1));
  return CheckList(context, "pads", window.pads, 2 * spatial, 0);
}

Result<om::TensorId> EmitReshape(ImportContext& context, om::TensorId x, om::Dims dims) {
  if (context.Tensor(x).dims == dims) return x;
  return context.EmitFolded("Reshape", {x}, {}, context.Tensor(x).type, std::move(dims));
}

Result<om::TensorId> EmitTranspose(ImportContext& context, om::TensorId x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  om::Dims dims;
  for (const int64_t axis : perm) dims.push_back(context.Tensor(x).dims[static_cast<size_t>(axis)]);
  return context.EmitFolded("Transpose", {x}, {{"perm", perm}}, context.Tensor(x).type, std::move(dims));
}

}  // namespace npustream::compiler
