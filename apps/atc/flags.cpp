#include "apps/atc/flags.h"

#include <fmt/format.h>

#include <algorithm>

namespace npustream::atc {
namespace {

constexpr Handling kUsed = Handling::kUsed, kAccepted = Handling::kAccepted, kRefused = Handling::kRefused;

constexpr std::string_view kSwitch = "0|1";
constexpr std::string_view kTruth = "true|false";

}  // namespace

const std::vector<Flag>& AllFlags() {
  static const std::vector<Flag> flags = {
      {"ac_parallel_enable", kAccepted, "0", kSwitch, ""},
      {"aicore_num", kAccepted, "", "", ""},
      {"allow_hf32", kAccepted, "", kTruth, ""},
      {"atomic_clean_policy", kAccepted, "0", kSwitch, ""},
      {"auto_tune_mode", kAccepted, "", "", ""},
      {"buffer_optimize", kAccepted, "l2_optimize", "l2_optimize|l1_optimize|off_optimize", ""},
      {"build_config", kAccepted, "", "", ""},
      {"cal_conf", kRefused, "", "", ""},
      {"check_report", kUsed, "check_result.json", "", "mode 3: file that the result of the check is written to"},
      {"cluster_config", kRefused, "", "", ""},
      {"compress_weight_conf", kAccepted, "", "", ""},
      {"compression_optimize_conf", kUsed, "", "", "file that asks for quantisation to 8-bit integers: data to calibrate with"},
      {"core_type", kAccepted, "AiCore", "AiCore|VectorCore", ""},
      {"customize_dtypes", kRefused, "", "", ""},
      {"debug_dir", kAccepted, "", "", ""},
      {"deterministic", kAccepted, "0", kSwitch, ""},
      {"deterministic_level", kAccepted, "0", "0|1|2", ""},
      {"device_id", kAccepted, "0", "", ""},
      {"disable_reuse_memory", kAccepted, "0", kSwitch, ""},
      {"display_model_info", kUsed, "0", kSwitch, "1: print the new OM's information as mode 6 does"},
      {"dump_mode", kAccepted, "0", kSwitch, ""},
      {"dynamic_batch_size", kUsed, "", "", "batch sizes of a model whose input has batch -1: \"1,2,4,8\""},
      {"dynamic_dims", kRefused, "", "", ""},
      {"dynamic_image_size", kRefused, "", "", ""},
      {"enable_attr_compression", kAccepted, "true", kTruth, ""},
      {"enable_compress_weight", kAccepted, "false", kTruth, ""},
      {"enable_scope_fusion_passes", kAccepted, "", "", ""},
      {"enable_single_stream", kAccepted, "", kTruth, ""},
      {"enable_small_channel", kAccepted, "0", kSwitch, ""},
      {"extension_lib", kUsed, "", "", "libraries with custom operators and passes: \"a.so;b.so\""},
      {"external_weight", kRefused, "0", "0|1|2", ""},
      {"framework", kUsed, "-1", "", "kind of the model file: 5 is ONNX, the only one that is read"},
      {"fusion_switch_file", kUsed, "", "", "file that switches optimisations off, a line \"Pass:off\" each"},
      {"h2d_overlapped_with_compute", kAccepted, "", "", ""},
      {"hccl_sub_comm_config", kRefused, "", "", ""},
      {"help", kUsed, "false", kTruth, "print this text"},
      {"host_env_cpu", kAccepted, "", "", ""},
      {"host_env_os", kAccepted, "", "", ""},
      {"input_format", kUsed, "", "NCHW|NHWC|ND|NCDHW|NDHWC", "layout of the inputs; ONNX models are NCHW or ND"},
      {"input_fp16_nodes", kRefused, "", "", ""},
      {"input_hint_shape", kRefused, "", "", ""},
      {"input_shape", kUsed, "", "", "shapes of the inputs: \"images:1,3,416,416;other:1,4\""},
      {"input_shape_range", kRefused, "", "", ""},
      {"insert_op_conf", kUsed, "", "", "AIPP file: picture format, crop, colour conversion, normalisation"},
      {"is_input_adjust_hw_layout", kRefused, "", kTruth, ""},
      {"is_output_adjust_hw_layout", kRefused, "", kTruth, ""},
      {"is_weight_clip", kAccepted, "1", kSwitch, ""},
      {"jit_compile", kAccepted, "1", "0|1|2", ""},
      {"json", kUsed, "", "", "modes 1 and 5: file that the JSON is written to"},
      {"keep_dtype", kUsed, "", "", "file of nodes, or lines OpType::NAME, that stay in FP32"},
      {"log", kUsed, "null", "debug|info|warning|error|null", "level of the messages on stderr"},
      {"mdl_bank_path", kAccepted, "", "", ""},
      {"mode", kUsed, "0", "0|1|3|5|6", "0 convert to OM, 1 model to JSON, 3 check only, 6 show an OM's information"},
      {"model", kUsed, "", "", "the model file"},
      {"modify_mixlist", kUsed, "", "", "JSON file: operator types that mixed precision lowers or not"},
      {"om", kUsed, "", "", "modes 1 and 6: the OM file that is looked at"},
      {"oo_level", kAccepted, "O3", "O0|O1|O2|O3", ""},
      {"op_bank_path", kAccepted, "", "", ""},
      {"op_compiler_cache_dir", kAccepted, "", "", ""},
      {"op_compiler_cache_mode", kAccepted, "disable", "disable|enable|force", ""},
      {"op_debug_config", kAccepted, "", "", ""},
      {"op_debug_level", kAccepted, "0", "0|1|2|3|4", ""},
      {"op_name_map", kRefused, "", "", ""},
      {"op_precision_mode", kAccepted, "", "", ""},
      {"op_select_implmode", kAccepted, "",
       "high_precision|high_performance|high_precision_for_all|high_performance_for_all", ""},
      {"optimization_switch", kAccepted, "", "", ""},
      {"optypelist_for_implmode", kAccepted, "", "", ""},
      {"out_nodes", kUsed, "", "", "outputs instead of the model's: \"node:0;other:1\" or names of tensors"},
      {"output", kUsed, "", "", "the OM file; .om is appended"},
      {"output_type", kUsed, "", "", "element type of the outputs: FP32, FP16, UINT8, INT8, or \"node:0:FP16;...\""},
      {"packed_weights", kUsed, "host", "",
       "CPUs that find their packed weights in the OM: host (this one), all, none (the portable ones only) or a list of "
       "\"baseline;avx2;avx512;avx512_vnni;amx\""},
      {"precision_mode", kUsed, "",
       "force_fp16|force_fp32|cube_fp16in_fp32out|allow_fp32_to_fp16|must_keep_origin_dtype|allow_mix_precision|"
       "allow_mix_precision_fp16|allow_mix_precision_bf16|allow_fp32_to_bf16",
       "what may be lower than FP32: rounded as a card would, summed in FP32; none given: force_fp32"},
      {"precision_mode_v2", kUsed, "", "fp16|origin|cube_fp16in_fp32out|mixed_float16|mixed_bfloat16|mixed_hif8",
       "the same under newer names; excludes --precision_mode"},
      {"quant_dumpable", kAccepted, "", kSwitch, ""},
      {"raw_ge_options", kAccepted, "", "", ""},
      {"raw_ge_options_ignore_unsupported", kAccepted, "false", kTruth, ""},
      {"save_original_model", kAccepted, "", kTruth, ""},
      {"shape_generalized_build_mode", kAccepted, "shape_precise", "shape_precise|shape_generalized", ""},
      {"singleop", kRefused, "", "", ""},
      {"soc_version", kUsed, "", "", "the chip: \"Ascend\" and the name that npu-smi shows, such as Ascend310P3"},
      {"sparsity", kAccepted, "0", kSwitch, ""},
      {"static_model_ops_lower_limit", kAccepted, "", "", ""},
      {"status_check", kAccepted, "0", kSwitch, ""},
      {"target", kAccepted, "", "", ""},
      {"tiling_schedule_optimize", kAccepted, "0", kSwitch, ""},
      {"virtual_type", kAccepted, "0", kSwitch, ""},
      {"weight", kAccepted, "", "", ""},
  };
  return flags;
}

std::string FlagValues::Get(std::string_view name) const {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  for (const Flag& flag : AllFlags()) {
    if (flag.name == name) return std::string(flag.default_value);
  }
  return "";
}

namespace {

const Flag* FindFlag(std::string_view name) {
  for (const Flag& flag : AllFlags()) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

bool IsAllowed(std::string_view allowed, std::string_view value) {
  while (!allowed.empty()) {
    const size_t end = std::min(allowed.find('|'), allowed.size());
    if (allowed.substr(0, end) == value) return true;
    allowed.remove_prefix(std::min(end + 1, allowed.size()));
  }
  return false;
}

Check CheckValue(const Flag& flag, const std::string& value) {
  const std::string name(flag.name);
  if (flag.handling == kRefused && value != flag.default_value) {
    return InvalidValue(name, value, "this version does not support the parameter");
  }
  if (value.empty()) return Failure{"E10004", fmt::format("Value for parameter [--{}] is empty", name)};
  if (flag.allowed.empty() || IsAllowed(flag.allowed, value)) return std::nullopt;
  if (flag.allowed == kTruth) return InvalidValue(name, value, "it must be true or false", "E10005");
  if (flag.allowed == kSwitch) return InvalidValue(name, value, "it must be 1 or 0", "E10006");
  std::string choices(flag.allowed);
  std::replace(choices.begin(), choices.end(), '|', ' ');
  return InvalidValue(name, value, fmt::format("it must be one of: {}", choices));
}

}  // namespace

Outcome<FlagValues> ParseFlags(const std::vector<std::string>& arguments) {
  FlagValues values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i];
    if (name == "-h") name = "--help";
    const size_t dashes = name.starts_with("--") ? 2 : name.starts_with("-") ? 1 : 0;
    if (dashes == 0) return Failure{"E10003", fmt::format("'{}' is no parameter: parameters begin with --", name)};
    name.erase(0, dashes);
    const size_t equals = name.find('=');
    std::string value = equals == std::string::npos ? "" : name.substr(equals + 1);
    name = name.substr(0, equals);
    const Flag* flag = FindFlag(name);
    if (flag == nullptr) {
      return Failure{"E10003", fmt::format("unknown parameter '--{}'; 'atc --help' lists those that exist", name)};
    }
    if (equals == std::string::npos) {
      const bool next_is_value = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
      // A truth value may stand alone.
      if (flag->allowed == kTruth && (!next_is_value || !IsAllowed(kTruth, arguments[i + 1]))) {
        value = "true";
      } else if (next_is_value) {
        value = arguments[++i];
      }
    }
    if (Check failure = CheckValue(*flag, value)) return *failure;
    values.Set(name, std::move(value));
  }
  return values;
}

std::string HelpText() {
  std::string text =
      "usage: atc --model=MODEL.onnx --framework=5 --output=NAME --soc_version=SOC [parameters]\n"
      "Converts an ONNX model to an offline model for the (simulated) NPU.\n\n";
  for (const Flag& flag : AllFlags()) {
    if (flag.handling != kUsed) continue;
    const std::string name = fmt::format("--{}", flag.name);
    text += fmt::format("  {:<22} {}", name, flag.help);
    if (!flag.default_value.empty()) text += fmt::format(" (default {})", flag.default_value);
    text += '\n';
  }
  const auto list = [&](Handling handling, std::string_view title) {
    text += fmt::format("\n{}:\n ", title);
    for (const Flag& flag : AllFlags()) {
      if (flag.handling == handling) text += fmt::format(" --{}", flag.name);
    }
    text += '\n';
  };
  list(kAccepted, "accepted without effect");
  list(kRefused, "known, but not supported by this version");
  return text;
}

}  // namespace npustream::atc
