#pragma once

#include "npu_sim/compiler/onnx/onnx_model.h"

namespace npustream::compiler {

// Whether a type is a real number that is computed in float32 here: float16, bfloat16, double.
bool IsWidened(om::DataType type);

// The graph with all constants of such types as float32, and casts to them as casts to float32. Inputs and outputs keep
// the types that the file declares; the importer converts at the edges.
OnnxGraph WidenReals(OnnxGraph graph);

}  // namespace npustream::compiler
