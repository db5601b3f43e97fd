#pragma once

#include <onnx/onnx_pb.h>

#include "tests/fuzz/random.h"

namespace npustream::fuzz {

// Changes a model in some places of its meaning: operators, edges (cycles too), attributes, shapes, types, constants.
// What comes out is well-formed protobuf and often no model any more.
void MutateOnnx(onnx::ModelProto& model, Random& random);

}  // namespace npustream::fuzz
