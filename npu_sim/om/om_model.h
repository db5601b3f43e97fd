#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npu_sim/om/aipp_config.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::om {

// How the runtime names a tensor's axes; the numbers are aclFormat's.
enum class Format : int8_t { kNchw = 0, kNhwc = 1, kNd = 2 };

// An input or output of the model; its dims are the gears'.
struct PortInfo {
  std::string name;
  DataType type = DataType::kFloat32;
  Format format = Format::kNd;
};

// What of the shapes is chosen at run time: atc's --dynamic_batch_size, --dynamic_image_size, --dynamic_dims.
enum class Dynamic : uint8_t { kNothing = 0, kBatch = 1, kImageSize = 2, kDims = 3 };

const char* ToString(Dynamic dynamic);

inline constexpr size_t kMaxGears = 100;
inline constexpr int64_t kMaxImages = 65536;  // of a gear

// One of the sets of shapes that a model runs with.
struct Gear {
  // What it is chosen by. Nothing where there is no choice; the batch; height and width; the dims of all inputs in a
  // row, in the order of --input_shape.
  std::vector<int64_t> values;
  std::vector<Dims> inputs, outputs;  // of all ports, in their order
  uint32_t plan = 0;
  // Runs of the plan, each of which takes and gives its slice along axis 0 of the ports. Inputs that have the plan's own
  // dims are not cut: every run reads all of them.
  int64_t images = 1;
};

// What is known about an offline model without looking at its graph.
struct OmInfo {
  std::string toolkit_version;  // of the compiler, "major.minor.patch"
  std::string soc;              // "Ascend310P3"
  std::string name;
  std::string command_line;  // as atc was called
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<Gear> gears;  // at least one, and only one for kNothing; batches ascend, others stand as the user gave them
  Dynamic dynamic = Dynamic::kNothing;
  // At most one per input; related_input_rank says which. With kImageSize the source is the gear's picture.
  std::vector<AippConfig> aipp;

  // Dims of a port, with −1 where gears differ.
  Dims InputDims(size_t index) const;
  Dims OutputDims(size_t index) const;
  // The gear that is chosen by `values`.
  std::optional<size_t> FindGear(std::span<const int64_t> values) const;
  // The gear that runs when none is chosen: the one whose inputs have the most bytes.
  size_t LargestGear() const;
};

// The executable form for the shapes of one gear, or for one image of several gears.
struct OmPlan {
  Graph graph;  // fused nodes, plain layouts, portable weights
  std::vector<NativePlan> natives;  // for instruction sets, at most one for each
};

// All that goes into an OM file.
struct OmModel {
  OmInfo info;
  std::vector<OmPlan> plans;
};

}  // namespace npustream::om
