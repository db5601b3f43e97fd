#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/program.h"

namespace npustream::program {

// The steps of one operator in a plan.
struct OperatorUse {
  std::string op;
  std::string implementation;  // of the most steps: "bytes avx512_vnni"
  size_t steps = 0;
  uint64_t weight_bytes = 0;  // as packed for this CPU
};

// The plan of one gear, or of all of them when images run one by one.
struct PlanReport {
  std::vector<int64_t> gears;
  std::vector<OperatorUse> operators;  // most weights first, then by name
  uint64_t pool_bytes = 0;        // of one core: where everything between inputs and outputs lies
  uint64_t pool_lower_bound = 0;  // the most that is alive at once: no plan can do with less
};

struct ModelReport {
  std::vector<PlanReport> plans;
  MemoryNeeds memory;  // on one core
  LoadTimes load;      // of one load just now
  std::vector<std::string> packed_for;  // instruction sets whose packed weights the file has
  bool packed_for_this_cpu = false;  // the file's packed weights serve as they are
};

// Loads the model once, on one core.
Result<ModelReport> ReportModel(const om::OmFile& file);

// The report as lines of text, without what stands in OmInfo.
std::string ToText(const ModelReport& report);

}  // namespace npustream::program
