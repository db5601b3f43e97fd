#pragma once

#include <optional>

#include "npu_sim/compiler/onnx/import_context.h"

namespace npustream::compiler {

// Arithmetic on dims that several importers share.

// Numpy's broadcasting of two shapes; nothing when they do not fit.
std::optional<om::Dims> BroadcastDims(const om::Dims& a, const om::Dims& b);

// Axes as ONNX gives them (negative, any order), checked, counted from the front and sorted; an error for a doubled
// one.
Result<std::vector<int64_t>> NormaliseAxes(const ImportContext& context, std::vector<int64_t> axes, int64_t rank);

// The axes of an operator that took them as an attribute before opset `input_since` and takes them as input
// `input_index` from then on. Nothing when they are left out.
Result<std::optional<std::vector<int64_t>>> AxesArgument(const ImportContext& context, size_t input_index,
                                                         int64_t input_since);

// Larger strides, kernels and pads are not a network; keeps products inside 64 bits.
inline constexpr int64_t kMaxWindow = 1 << 16;

// A convolution's or pool's window over the spatial axes.
struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // begins, then ends; auto_pad and ceil_mode are already resolved into them
  om::Dims output;            // spatial dims of the result
  bool ceil_padded = false;   // ceil_mode added to the ends
};

// Reads strides, dilations, pads, auto_pad and ceil_mode of a node whose window is `kernel` over input 0.
// Checks counts and signs and that the result is not empty.
Result<Window> ReadWindow(const ImportContext& context, std::vector<int64_t> kernel);

// Whether a window's lists have one value (pads: two) for each of `spatial` axes, within reason.
Status CheckWindowLists(const ImportContext& context, const Window& window, size_t spatial);

// `x` with other dims of the same count, and with its axes in the order `perm`. Constants stay constants.
Result<om::TensorId> EmitReshape(ImportContext& context, om::TensorId x, om::Dims dims);
Result<om::TensorId> EmitTranspose(ImportContext& context, om::TensorId x, const std::vector<int64_t>& perm);

}  // namespace npustream::compiler
