#pragma once

#include <string_view>

#include "base/status.h"
#include "npu_sim/compiler/onnx/import_context.h"

namespace npustream::compiler {

using Importer = Status (*)(ImportContext& context);

// How ONNX's operator of a name gets into the graph; names of other domains than ai.onnx start with theirs. The driver has checked the counts before it calls: inputs below
// `min_inputs` are present, there are at most `max_inputs`, and output 0 has a name.
struct OperatorRow {
  const char* op;
  Importer import;
  size_t min_inputs;
  size_t max_inputs;
};

inline constexpr size_t kAnyCount = static_cast<size_t>(-1);

// Null when there is no importer for the node's operator.
const OperatorRow* FindImporter(const OnnxNode& node);

}  // namespace npustream::compiler
