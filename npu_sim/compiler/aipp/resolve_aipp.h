#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/aipp/aipp_file.h"
#include "npu_sim/om/aipp_config.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// An input of the model that AIPP may stand in front of.
struct AippTarget {
  std::string name;
  om::DataType type = om::DataType::kFloat32;
  om::Dims dims;  // NCHW; axis 0 may be −1
};

// Fills in what blocks leave to the model (source and crop sizes) and checks every rule between fields and against the
// inputs, in the order of the file. kInvalidArgument names block and rule; kUnsupported for dynamic AIPP, which does
// not exist yet.
Result<std::vector<om::AippConfig>> ResolveAipp(const std::vector<AippBlock>& blocks,
                                                const std::vector<AippTarget>& inputs);

// The same for one of several sizes that the picture may have at run time: the source is left open (0), and neither it
// nor crop nor padding may be given.
Result<std::vector<om::AippConfig>> ResolveAippForAnySize(const std::vector<AippBlock>& blocks,
                                                          const std::vector<AippTarget>& inputs);

}  // namespace npustream::compiler
