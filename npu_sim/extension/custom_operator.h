#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "npu_sim/extension/npustream_extension.h"
#include "npu_sim/om/graph.h"

// Graphs of ours in the words of the public interface.
namespace npustream::extension {

// Borrows the node.
NpustreamAttributes AttributesOf(const om::Node& node);
// `data` is null for what is computed. kUnsupported when the rank is too high.
Result<NpustreamTensor> TensorOf(const char* name, om::DataType type, const om::Dims& dims, const void* data);
// An input that was left out.
NpustreamTensor AbsentTensor();

struct Inferred {
  om::DataType type;
  om::Dims dims;
};
// Types and dims of the outputs, as the operator says; sizes are checked to be sane.
Result<std::vector<Inferred>> Infer(const NpustreamOperator& op, const om::Node& node,
                                    std::span<const NpustreamTensor> inputs);

}  // namespace npustream::extension
