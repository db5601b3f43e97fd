#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// A constant from a TensorProto in any of its encodings; external data is read from `folder`.
Result<om::Tensor> ReadTensorProto(const onnx::TensorProto& proto, const std::filesystem::path& folder);

}  // namespace npustream::compiler
