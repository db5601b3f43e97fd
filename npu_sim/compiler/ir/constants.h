#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// A constant tensor of `dims`; values.size() must be the product of the dims.
om::Tensor MakeFloats(std::string name, om::Dims dims, std::span<const float> values);
om::Tensor MakeInts(std::string name, om::Dims dims, std::span<const int64_t> values);
// A scalar 0 (false) of any type.
om::Tensor ZeroOf(om::DataType type, std::string name);

// The content of a constant of any integer type (or bool), widened. kInvalidArgument when it is not a constant or not
// of an integer type.
Result<std::vector<int64_t>> ReadInts(const om::Tensor& tensor);
// The content of a constant of any numeric type, as floats. kInvalidArgument when it is not a constant.
Result<std::vector<float>> ReadFloats(const om::Tensor& tensor);
// A view of a float32 constant's content; empty when it is not one.
std::span<const float> FloatView(const om::Tensor& tensor);

}  // namespace npustream::compiler
