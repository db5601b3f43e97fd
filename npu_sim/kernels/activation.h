#pragma once

#include <optional>
#include <string_view>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {

// An elementwise function with its parameters as SimdTable::unary takes them.
struct Activation {
  UnaryOp op = UnaryOp::kIdentity;
  float a = 0, b = 0;
};

// The function that operator `op` with the attributes of `node` stands for; nothing when `op` is none of the vector
// functions. Parameters that are absent get ONNX's defaults.
std::optional<Activation> ActivationOfOperator(std::string_view op, const om::Node& node);
// What the node's attribute "activation" says (kIdentity without it); kUnsupported for an unknown name.
Result<Activation> FusedActivation(const om::Node& node);
// Whether f(0) = 0, so that padding channels stay zero.
bool KeepsZero(const Activation& activation);

// Writes zeros into the channels that fill up the last group of a blocked tensor.
void ClearPadding(float* data, const om::Dims& dims, om::Layout layout);
void ClearPadding(std::byte* data, size_t element_bytes, const om::Dims& dims, om::Layout layout);
// Real numbers between which an activation of bytes does nothing but hold: the limits that it sets to a tensor of this
// quantisation, in its integers. Nothing when limits do not express the activation.
struct ByteLimits {
  float low = 0, high = 255;
};
std::optional<ByteLimits> LimitsOf(const Activation& activation, const om::Quantization& quantization);
// Whether a tensor is uint8 with one scale.
bool IsByteTensor(const TensorInfo& tensor);

// The activation of sums that became real numbers, row by row while they are in the first-level cache.
class RowActivation {
 public:
  RowActivation(const Activation& activation, const Problem& problem);
  void Activate(float* y, int64_t count) const {
    if (function_) function_(y, y, static_cast<size_t>(count), activation_.a, activation_.b);
  }
  // When all rows of the result `y` are done.
  void Finish(float* y) const {
    if (clear_padding_) ClearPadding(y, dims_, layout_);
  }

 private:
  Activation activation_;
  SimdTable::Unary function_ = nullptr;
  bool clear_padding_;
  om::Dims dims_;
  om::Layout layout_;
};

// Floats that a tensor takes in memory, padding channels included.
size_t StoredCount(const TensorInfo& tensor);

}  // namespace npustream::kernels
