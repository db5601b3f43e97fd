#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/compiler/passes/fusion_limits.h"
#include "npu_sim/compiler/passes/lower_precision.h"
#include "npu_sim/compiler/quantize/quantization_scheme.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/om_model.h"

namespace npustream::compiler {

struct CompileOptions {
  std::string model_name;    // written into the OM
  std::string soc;           // "Ascend310P3"
  FusionLimits fusion_limits;  // of that SoC
  std::string command_line;  // as the user called the compiler
  // Shapes of inputs that differ from the file or are open there. −1 on axis 0: the batch, see `gears`.
  std::map<std::string, om::Dims> input_shapes;
  // Batch sizes of a model with dynamic batch, ascending. Empty: the batch is what the shapes say.
  std::vector<int64_t> gears;
  std::vector<om::AippConfig> aipp;                  // resolved (aipp/resolve_aipp.h)
  std::vector<std::string> outputs;                  // tensors that become outputs instead of the file's
  std::map<std::string, om::DataType> output_types;  // by output name; others keep their type
  std::set<std::string> disabled_passes;             // names of PassNames()
  // How the model is quantised (quantize/plan_quantization.h); null: not at all. Shared, as options are copied.
  std::shared_ptr<const QuantizationScheme> quantization;
  Precision precision;  // what is computed in a type shorter than float32
  // CPUs that find their packed weights in the OM; all others pack the portable ones when they load it.
  std::set<kernels::Isa> packed_isas = {kernels::RunningIsa()};
};

// ONNX to an offline model that runs on this machine. Errors are sentences; by code:
//   kUnsupported: operators without parser or kernel, all of them named in one message; features that do not exist yet
//   kInvalidArgument: the options do not fit the model
//   kCorruptData: the model contradicts itself
//   kInternal: a pass broke the graph
Result<om::OmModel> Compile(const OnnxModel& model, const CompileOptions& options);

// The optimisations that can be switched off, in the order in which they run.
std::vector<std::string_view> PassNames();

// All optimisations but the disabled ones, for one graph: first those on real numbers, then those that bring integers.
Status RunPasses(om::Graph& graph, const std::set<std::string>& disabled);
Status RunRealPasses(om::Graph& graph, const std::set<std::string>& disabled, const FusionLimits& limits = {});
Status RunIntegerPasses(om::Graph& graph, const std::set<std::string>& disabled);

}  // namespace npustream::compiler
