#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Our element type for ONNX's number; nothing for strings, complex numbers and numbers that do not exist.
std::optional<om::DataType> DataTypeFromOnnx(int64_t onnx_type);
// "STRING" for 8, for messages; the number where ONNX has no name for it.
std::string OnnxTypeName(int64_t onnx_type);

}  // namespace npustream::compiler
