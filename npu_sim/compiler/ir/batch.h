#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// For a graph at batch `n` > 1 of the inputs marked true: whether it treats every image by itself, axis 0 being the
// batch from these inputs to all outputs. Then the tensors whose axis 0 is the batch are marked true; nothing when images may mix, or when it cannot
// be told. Conservative: an operator that is not known mixes.
std::optional<std::vector<bool>> FindBatchTensors(const om::Graph& graph, int64_t n, const std::vector<bool>& inputs);

// The graph for one image of a graph at batch `n`, given what FindBatchTensors found.
om::Graph CutToOneImage(om::Graph graph, int64_t n, const std::vector<bool>& batch_tensors);

// Whether the inputs marked true and all outputs have an axis 0 of extent 1.
bool IsSingleImage(const om::Graph& graph, const std::vector<bool>& inputs);

}  // namespace npustream::compiler
