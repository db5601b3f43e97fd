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
// Floats that a tensor takes in memory, padding channels included.
size_t StoredCount(const TensorInfo& tensor);

}  // namespace npustream::kernels
