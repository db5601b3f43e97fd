#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu_sim/om/aipp_config.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::om {

// How the runtime names a tensor's axes; the numbers are aclFormat's.
enum class Format : int8_t { kNchw = 0, kNhwc = 1, kNd = 2 };

// An input or output of the model as aclmdlDesc shows it.
struct PortInfo {
  std::string name;
  DataType type = DataType::kFloat32;
  Dims dims;  // −1 on axis 0 when the batch is dynamic
  Format format = Format::kNd;
};

// What is known about an offline model without looking at its graph.
struct OmInfo {
  std::string toolkit_version;  // of the compiler, "major.minor.patch"
  std::string soc;              // "Ascend310P3"
  std::string name;
  std::string command_line;  // as atc was called
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<int64_t> gears;    // batch sizes, ascending; at least one
  bool dynamic_batch = false;    // true when the user asked for gears (axis 0 is −1, an input selects the gear)
  std::vector<AippConfig> aipp;  // at most one per input; related_input_rank says which
};

// The executable form for one batch size.
struct OmPlan {
  int64_t batch = 1;
  // True when `graph` treats one image (batch 1) and a batch is run image by image: then it serves every gear.
  bool per_image = false;
  Graph graph;  // fused nodes, plain layouts, portable weights
  std::vector<NativePlan> natives;  // for instruction sets, at most one for each
};

// All that goes into an OM file. Either one plan that is per_image, or one plan per gear.
struct OmModel {
  OmInfo info;
  std::vector<OmPlan> plans;
};

}  // namespace npustream::om
