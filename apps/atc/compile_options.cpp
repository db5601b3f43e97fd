#include "apps/atc/compile_options.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "apps/atc/fusion_switch.h"
#include "apps/atc/precision.h"
#include "apps/atc/shapes.h"
#include "npu_sim/compiler/aipp/aipp_file.h"
#include "npu_sim/compiler/aipp/resolve_aipp.h"
#include "npu_sim/device/soc_profile.h"
#include "npu_sim/extension/registry.h"
#include "npu_sim/kernels/isa.h"

namespace npustream::atc {
namespace {

using compiler::CompileOptions;
using compiler::OnnxModel;

Check ReadSoc(const FlagValues& flags, CompileOptions& options) {
  options.soc = flags.Get("soc_version");
  if (options.soc.empty()) return Failure{"E10007", "Parameter [--soc_version] is required"};
  const auto profile = device::FindSocProfile(options.soc);
  if (!profile.ok()) return InvalidValue("soc_version", options.soc, profile.status().message());
  options.soc = profile->name;
  options.fusion_limits.buffer_bytes = profile->unified_buffer_bytes;
  return std::nullopt;
}

Check ReadShapes(const FlagValues& flags, const OnnxModel& model, CompileOptions& options) {
  if (flags.Has("input_shape")) {
    Outcome<Shapes> shapes = ParseInputShape(flags.Get("input_shape"));
    if (!shapes.ok()) return shapes.failure();
    options.input_shapes = std::move(shapes.value());
  }
  if (flags.Has("dynamic_batch_size")) {
    Outcome<std::vector<int64_t>> gears = ParseGears(flags.Get("dynamic_batch_size"));
    if (!gears.ok()) return gears.failure();
    options.gears = std::move(gears.value());
  }
  const std::string format = flags.Get("input_format");
  if (!format.empty() && format != "NCHW" && format != "ND") {
    return InvalidValue("input_format", format, "the inputs of ONNX models are NCHW or ND");
  }
  return CheckShapes(model, options.input_shapes, !options.gears.empty());
}

std::vector<compiler::AippTarget> AippTargets(const OnnxModel& model, const CompileOptions& options) {
  std::vector<compiler::AippTarget> targets;
  for (const compiler::OnnxValue& input : model.graph.inputs) {
    compiler::AippTarget target{input.name, input.type, {}};
    const auto given = options.input_shapes.find(input.name);
    if (given != options.input_shapes.end()) {
      target.dims = given->second;
    } else {
      for (const compiler::OnnxDim& dim : input.dims) target.dims.push_back(dim.size);
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

Check ReadAipp(const FlagValues& flags, const OnnxModel& model, CompileOptions& options) {
  if (!flags.Has("insert_op_conf")) return std::nullopt;
  const auto blocks = compiler::ReadAippFile(flags.Get("insert_op_conf"));
  if (!blocks.ok()) {
    const bool is_content = blocks.status().code() == StatusCode::kInvalidArgument;
    return is_content ? Failure{"E10052", "AIPP configuration is invalid. Reason: " + blocks.status().message()}
                      : FileFailure(blocks.status());
  }
  auto configs = compiler::ResolveAipp(*blocks, AippTargets(model, options));
  if (!configs.ok()) return Failure{"E10052", "AIPP configuration is invalid. Reason: " + configs.status().message()};
  options.aipp = std::move(*configs);
  return std::nullopt;
}

// The tensor that "node:1", "tensor:0" or "tensor" names.
std::optional<std::string> FindOutput(const OnnxModel& model, const std::string& text) {
  const size_t colon = text.rfind(':');
  int64_t index = 0;
  const bool numbered = colon != std::string::npos && ParseInteger(text.substr(colon + 1), index) && index >= 0;
  const std::string name = numbered ? text.substr(0, colon) : text;
  for (const compiler::OnnxNode& node : model.graph.nodes) {
    if (numbered && node.name == name && static_cast<size_t>(index) < node.outputs.size()) {
      return node.outputs[static_cast<size_t>(index)];
    }
    for (const std::string& output : node.outputs) {
      if (output == text || (output == name && index == 0)) return output;
    }
  }
  return std::nullopt;
}

Check ReadOutputs(const FlagValues& flags, const OnnxModel& model, CompileOptions& options) {
  if (!flags.Has("out_nodes")) return std::nullopt;
  for (const std::string& part : SplitList(flags.Get("out_nodes"), ';')) {
    const std::optional<std::string> tensor = FindOutput(model, part);
    if (!tensor) return InvalidValue("out_nodes", part, "the model has no such node and output", "E10016");
    options.outputs.push_back(*tensor);
  }
  return std::nullopt;
}

std::optional<om::DataType> OutputType(const std::string& name) {
  if (name == "FP32") return om::DataType::kFloat32;
  if (name == "FP16") return om::DataType::kFloat16;
  if (name == "UINT8") return om::DataType::kUInt8;
  if (name == "INT8") return om::DataType::kInt8;
  return std::nullopt;
}

// One type for all outputs, or "node:0:TYPE" for some.
Check ReadOutputTypes(const FlagValues& flags, const OnnxModel& model, CompileOptions& options) {
  std::vector<std::string> names = options.outputs;
  if (names.empty()) {
    for (const compiler::OnnxValue& output : model.graph.outputs) names.push_back(output.name);
  }
  if (!flags.Has("output_type")) return std::nullopt;
  for (const std::string& part : SplitList(flags.Get("output_type"), ';')) {
    const size_t colon = part.rfind(':');
    const auto type = OutputType(colon == std::string::npos ? part : part.substr(colon + 1));
    if (!type) return InvalidValue("output_type", part, "the type must be one of: FP32 FP16 UINT8 INT8");
    if (colon == std::string::npos) {
      for (const std::string& name : names) options.output_types[name] = *type;
      continue;
    }
    const std::optional<std::string> tensor = FindOutput(model, part.substr(0, colon));
    if (!tensor || std::find(names.begin(), names.end(), *tensor) == names.end()) {
      return InvalidValue("output_type", part, "the model has no such output", "E10016");
    }
    options.output_types[*tensor] = *type;
  }
  return std::nullopt;
}

Check ReadPrecisionMode(const FlagValues& flags, const OnnxModel& model, CompileOptions& options) {
  Outcome<compiler::Precision> precision = ReadPrecision(flags, model);
  if (!precision.ok()) return precision.failure();
  options.precision = std::move(precision.value());
  return std::nullopt;
}

// A set for which "host" and "all" stand too; "none" stands alone.
Check ReadPackedWeights(const FlagValues& flags, CompileOptions& options) {
  options.packed_isas.clear();
  const std::string value = flags.Get("packed_weights");
  if (value == "none") return std::nullopt;
  for (const std::string& part : SplitList(value, ';')) {
    const std::optional<kernels::Isa> isa = part == "host" ? kernels::RunningIsa() : kernels::FindIsa(part);
    if (part == "all") {
      options.packed_isas.insert(kernels::kAllIsas.begin(), kernels::kAllIsas.end());
    } else if (isa) {
      options.packed_isas.insert(*isa);
    } else {
      return InvalidValue("packed_weights", value,
                          fmt::format("'{}' is none of: host all none baseline avx2 avx512 avx512_vnni amx", part));
    }
  }
  return std::nullopt;
}

Check LoadExtensions(const FlagValues& flags) {
  if (!flags.Has("extension_lib")) return std::nullopt;
  for (const std::string& path : SplitList(flags.Get("extension_lib"), ';')) {
    const Status status = extension::LoadLibrary(path);
    if (!status.ok()) return InvalidValue("extension_lib", path, status.message());
  }
  return std::nullopt;
}

}  // namespace

Outcome<CompileOptions> ReadCompileOptions(const FlagValues& flags, const OnnxModel& model) {
  CompileOptions options;
  options.model_name = std::filesystem::path(flags.Get("output")).stem().string();
  if (Check failure = ReadPrecisionMode(flags, model, options)) return *failure;
  if (Check failure = ReadSoc(flags, options)) return *failure;
  if (Check failure = ReadShapes(flags, model, options)) return *failure;
  if (Check failure = ReadAipp(flags, model, options)) return *failure;
  if (Check failure = ReadOutputs(flags, model, options)) return *failure;
  if (Check failure = ReadOutputTypes(flags, model, options)) return *failure;
  if (Check failure = ReadPackedWeights(flags, options)) return *failure;
  if (Check failure = LoadExtensions(flags)) return *failure;
  if (flags.Has("fusion_switch_file")) {
    Outcome<std::set<std::string>> disabled = ReadFusionSwitches(flags.Get("fusion_switch_file"));
    if (!disabled.ok()) return disabled.failure();
    options.disabled_passes = std::move(disabled.value());
  }
  return options;
}

}  // namespace npustream::atc
