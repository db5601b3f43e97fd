#pragma once

#include <onnx/onnx_pb.h>

#include "base/status.h"

namespace npustream::compiler {

// Puts the nodes of the functions that a model brings in the place of the nodes that call them. kUnsupported: a function
// of another operator set; kCorruptData: functions that call each other without end.
Status InlineFunctions(onnx::ModelProto& model);

}  // namespace npustream::compiler
