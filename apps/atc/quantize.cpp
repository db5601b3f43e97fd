#include "apps/atc/quantize.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "apps/atc/precision.h"
#include "base/file.h"
#include "base/log.h"
#include "npu_sim/compiler/quantize/calibration_conf.h"
#include "npu_sim/compiler/quantize/report.h"

namespace npustream::atc {
namespace {

// Modes that ask for real numbers throughout.
Check CheckPrecision(const FlagValues& flags) {
  for (const auto& [flag, mode] : {std::pair{"precision_mode", "force_fp32"}, std::pair{"precision_mode", "must_keep_origin_dtype"},
                                   std::pair{"precision_mode_v2", "origin"}}) {
    if (flags.Get(flag) != mode) continue;
    return Failure{"E10047", fmt::format("Parameters [--compression_optimize_conf] with calibration and [--{}={}] "
                                         "exclude each other",
                                         flag, mode)};
  }
  return std::nullopt;
}

}  // namespace

Check Quantize(const FlagValues& flags, const compiler::OnnxModel& model, compiler::CompileOptions& options) {
  if (!flags.Has("compression_optimize_conf")) return std::nullopt;
  const std::string path = flags.Get("compression_optimize_conf");
  const auto fail = [&](const Status& status) -> Check {
    if (status.code() != StatusCode::kInvalidArgument) return FileFailure(status);
    return InvalidValue("compression_optimize_conf", path, status.message());
  };
  auto conf = compiler::ReadCalibrationConf(path);
  if (!conf.ok()) return fail(conf.status());
  if (!conf->calibrates) return std::nullopt;
  if (Check failure = CheckPrecision(flags)) return failure;
  const Outcome<std::vector<std::string>> kept = KeepDtypeLines(flags);
  if (!kept.ok()) return kept.failure();
  std::copy_if(kept.value().begin(), kept.value().end(),
               std::inserter(conf->options.real_nodes, conf->options.real_nodes.end()),
               [](const std::string& line) { return !line.empty(); });
  const auto data = compiler::ReadCalibrationData(*conf);
  if (!data.ok()) return fail(data.status());
  conf->options.notify = [](const std::string& news) { Log(LogLevel::kInfo, "atc", "calibration: {}", news); };
  auto scheme = compiler::PlanQuantization(model, options, *data, conf->options);
  if (!scheme.ok()) {
    return scheme.status().code() == StatusCode::kInvalidArgument ? fail(scheme.status()) : ModelFailure(scheme.status());
  }
  if (!conf->report_file.empty()) {
    const std::string report = compiler::ReportJson(*scheme) + "\n";
    if (Status status = WriteFileAtomically(conf->report_file, std::string_view(report)); !status.ok())
      return Failure{"E13004", status.message()};
  }
  options.quantization = std::make_shared<const compiler::QuantizationScheme>(std::move(*scheme));
  return std::nullopt;
}

}  // namespace npustream::atc
