#include "apps/atc/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/atc/shapes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/trim.h"
#include "npu_sim/kernels/isa.h"

namespace npustream::atc {
namespace {

using compiler::OnnxModel;
using compiler::OnnxNode;
using compiler::Precision;
using om::DataType;
using Scope = Precision::Scope;

struct Mode {
  std::string_view name;
  DataType type;
  Scope scope = Scope::kAll;
  bool is_mixed = false;  // operators that lose much stay in FP32
};

// Both flags' values. Models in FP16 are widened when they are read, so the modes that keep the model's own types mean
// FP32.
constexpr Mode kModes[] = {
    {"allow_fp32_to_bf16", DataType::kBFloat16, Scope::kMatrices},
    {"allow_fp32_to_fp16", DataType::kFloat16, Scope::kMatrices},
    {"allow_mix_precision", DataType::kFloat16, Scope::kAll, true},
    {"allow_mix_precision_bf16", DataType::kBFloat16, Scope::kAll, true},
    {"allow_mix_precision_fp16", DataType::kFloat16, Scope::kAll, true},
    {"cube_fp16in_fp32out", DataType::kFloat16, Scope::kMatrixOperands},
    {"force_fp16", DataType::kFloat16},
    {"force_fp32", DataType::kFloat32},
    {"fp16", DataType::kFloat16},
    {"mixed_bfloat16", DataType::kBFloat16, Scope::kAll, true},
    {"mixed_float16", DataType::kFloat16, Scope::kAll, true},
    {"must_keep_origin_dtype", DataType::kFloat32},
    {"origin", DataType::kFloat32},
};

// Operators that mixed precision leaves in FP32 unless --modify_mixlist says otherwise: sums over many elements, and
// functions that multiply relative errors.
constexpr const char* kSensitive[] = {"BatchNormalization",
                                      "Exp",
                                      "InstanceNormalization",
                                      "LayerNormalization",
                                      "Log",
                                      "LogSoftmax",
                                      "Pow",
                                      "ReduceL2",
                                      "ReduceMean",
                                      "ReduceProd",
                                      "ReduceSum",
                                      "Reciprocal",
                                      "ReduceL1",
                                      "ReduceSumSquare",
                                      "Softmax",
                                      "Softplus",
                                      "Sqrt"};

// A node as the graph may know it after passes: by its name or by that of a result.
void Keep(const OnnxNode& node, Precision& precision) {
  if (!node.name.empty()) precision.kept.insert(node.name);
  for (const std::string& output : node.outputs) {
    if (!output.empty()) precision.kept.insert(output);
  }
}

// Whether there was one.
template <typename Condition>
bool KeepAll(const OnnxModel& model, const Condition& condition, Precision& precision) {
  bool found = false;
  for (const OnnxNode& node : model.graph.nodes) {
    if (!condition(node)) continue;
    Keep(node, precision);
    found = true;
  }
  return found;
}

void KeepType(const OnnxModel& model, const std::string& type, Precision& precision) {
  precision.kept_ops.insert(type);
  KeepAll(
      model, [&](const OnnxNode& node) { return node.op == type; }, precision);
}

Check ReadKeptOperators(const FlagValues& flags, const OnnxModel& model, Precision& precision) {
  const Outcome<std::vector<std::string>> lines = KeepDtypeLines(flags);
  if (!lines.ok()) return lines.failure();
  int number = 0;
  for (const std::string& line : lines.value()) {
    ++number;
    constexpr std::string_view kType = "OpType::";
    if (line.empty()) continue;
    if (line.starts_with(kType)) {
      KeepType(model, std::string(Trimmed(std::string_view(line).substr(kType.size()))), precision);
    } else if (!KeepAll(
                   model, [&](const OnnxNode& node) { return node.name == line; }, precision)) {
      return InvalidValue("keep_dtype", flags.Get("keep_dtype"), fmt::format("line {}: the model has no operator '{}'", number, line));
    }
  }
  return std::nullopt;
}

// The strings of lists[list][change].
Outcome<std::set<std::string>> MixList(const std::string& file, const nlohmann::json& lists, const char* list,
                                       const char* change) {
  std::set<std::string> types;
  const auto found = lists.find(list);
  if (found == lists.end()) return types;
  if (!found->is_object()) return InvalidValue("modify_mixlist", file, fmt::format("{} is no object", list));
  const auto names = found->find(change);
  if (names == found->end()) return types;
  const bool is_list = names->is_array() && std::all_of(names->begin(), names->end(),
                                                        [](const nlohmann::json& name) { return name.is_string(); });
  if (!is_list) return InvalidValue("modify_mixlist", file, fmt::format("{} of {} is no list of names", change, list));
  for (const nlohmann::json& name : *names) types.insert(name.get<std::string>());
  return types;
}

Check ModifySensitive(const std::string& file, std::set<std::string>& sensitive) {
  const auto text = ReadTextFile(file);
  if (!text.ok()) return FileFailure(text.status());
  const nlohmann::json lists = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!lists.is_object()) return InvalidValue("modify_mixlist", file, "it is no JSON object");
  const auto black = MixList(file, lists, "black-list", "to-add"),
             released = MixList(file, lists, "black-list", "to-remove"),
             white = MixList(file, lists, "white-list", "to-add");
  for (const auto* list : {&black, &released, &white}) {
    if (!list->ok()) return list->failure();
  }
  for (const std::string& type : black.value()) {
    if (white.value().count(type) != 0)
      return InvalidValue("modify_mixlist", file, fmt::format("{} is put on the black and on the white list", type));
  }
  for (const std::string& type : released.value()) sensitive.erase(type);
  for (const std::string& type : white.value()) sensitive.erase(type);
  sensitive.insert(black.value().begin(), black.value().end());
  return std::nullopt;
}

// The mode's name and the flag that gave it; empty when there is none.
Outcome<std::pair<std::string, std::string>> GivenMode(const FlagValues& flags) {
  if (flags.Has("precision_mode") && flags.Has("precision_mode_v2")) {
    return Failure{"E10047", "Parameters [--precision_mode] and [--precision_mode_v2] exclude each other"};
  }
  const std::string flag = flags.Has("precision_mode_v2") ? "precision_mode_v2" : "precision_mode";
  return std::pair(flag, flags.Get(flag));
}

}  // namespace

Outcome<std::vector<std::string>> KeepDtypeLines(const FlagValues& flags) {
  std::vector<std::string> lines;
  if (!flags.Has("keep_dtype")) return lines;
  const auto text = ReadTextFile(flags.Get("keep_dtype"));
  if (!text.ok()) return FileFailure(text.status());
  for (const std::string& line : SplitList(*text, '\n')) lines.emplace_back(Trimmed(line));
  return lines;
}

Outcome<Precision> ReadPrecision(const FlagValues& flags, const OnnxModel& model) {
  const auto given = GivenMode(flags);
  if (!given.ok()) return given.failure();
  const auto& [flag, name] = given.value();
  const std::string_view wanted = name.empty() ? "force_fp32" : std::string_view(name);
  const Mode* mode =
      std::find_if(std::begin(kModes), std::end(kModes), [&](const Mode& m) { return m.name == wanted; });
  if (mode == std::end(kModes)) return InvalidValue(flag, name, "no SoC that is simulated computes in this type");
  Precision precision{mode->type, mode->scope, {}, {}};
  if (Check failure = ReadKeptOperators(flags, model, precision)) return *failure;
  std::set<std::string> sensitive(std::begin(kSensitive), std::end(kSensitive));
  if (flags.Has("modify_mixlist")) {
    if (!mode->is_mixed)
      return InvalidValue("modify_mixlist", flags.Get("modify_mixlist"), "only mixed precision has such lists");
    if (Check failure = ModifySensitive(flags.Get("modify_mixlist"), sensitive)) return *failure;
  }
  if (mode->is_mixed) {
    for (const std::string& type : sensitive) KeepType(model, type, precision);
  }
  if (precision.type == DataType::kBFloat16) {
    precision.by_kernels = true;
    if (kernels::RunningIsa() < kernels::Isa::kAmx) {
      Log(LogLevel::kWarning, "atc",
          "{}={}: this CPU has no AMX, without which bfloat16 is slower than FP32; here the model computes in FP32", flag,
          name);
    }
  }
  return precision;
}

}  // namespace npustream::atc
