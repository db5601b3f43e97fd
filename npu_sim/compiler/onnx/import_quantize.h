#pragma once

#include "npu_sim/compiler/onnx/import_context.h"

namespace npustream::compiler {

// Places of a quantised tensor's three parts in a node's inputs.
struct QuantizedInput {
  size_t integers, scale, zero_point;  // the zero point may be left out
};

// The integers at `integers` as real numbers, less their zero point.
Result<om::TensorId> EmitShifted(ImportContext& context, size_t integers, size_t zero_point, int64_t axis);
// The real numbers that an input of integers stands for; with several scales, one per place of `axis`.
Result<om::TensorId> EmitDequantized(ImportContext& context, const QuantizedInput& input, int64_t axis);
// `real` as integers of the type of the zero point at `zero_point` (uint8 without one): output 0 of the node.
Status OutputQuantized(ImportContext& context, om::TensorId real, size_t scale, size_t zero_point, int64_t axis);

}  // namespace npustream::compiler
