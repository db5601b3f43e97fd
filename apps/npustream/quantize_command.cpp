#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/npustream/calibrate.h"
#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/file.h"
#include "base/standard_streams.h"
#include "npu_sim/compiler/quantize/report.h"
#include "npu_sim/om/om_writer.h"

namespace npustream::apps {
namespace {

struct QuantizeFlags {
  CalibrationRequest request;
  std::string output;
  std::string report;
  std::string method = "mse";
  std::string picture_format = "nv12";
  std::vector<std::string> keep;
  bool json = false;
};

Status QuantizeModel(QuantizeFlags& flags) {
  NPUSTREAM_ASSIGN_OR_RETURN(Calibrated calibrated, Calibrate(flags.request, flags.output));
  const std::string json = compiler::ReportJson(calibrated.scheme) + "\n", text = compiler::ReportText(calibrated.scheme);
  calibrated.options.quantization = std::make_shared<const compiler::QuantizationScheme>(std::move(calibrated.scheme));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::OmModel compiled, compiler::Compile(calibrated.model, calibrated.options));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  NPUSTREAM_RETURN_IF_ERROR(WriteFileAtomically(flags.output, std::span<const std::byte>(bytes)));
  Print(stdout, "{}", flags.json ? json : text);
  return flags.report.empty() ? Status() : WriteFileAtomically(flags.report, std::string_view(json));
}

int Quantize(QuantizeFlags flags) {
  if (flags.picture_format == "rgb") flags.request.model.picture_format = serving::PictureFormat::kRgb888;
  flags.request.options.method = compiler::RangeMethodOf(flags.method);
  flags.request.options.real_nodes.insert(flags.keep.begin(), flags.keep.end());
  const Status status = QuantizeModel(flags);
  WipeProgress();
  return status.ok() ? kExitDone : Fail(status);
}

}  // namespace

void AddQuantizeCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("quantize", "Make a model run on 8-bit integers, calibrated with pictures");
  auto flags = std::make_shared<QuantizeFlags>();  // shared with the callback, which outlives this function
  command->add_option("model", flags->request.model.model, "Model description (YAML), the name of one, or an ONNX file")->required();
  command->add_option("--images", flags->request.images, "Folder of pictures, picture or video to calibrate with")->required();
  command->add_option("-o,--output", flags->output, "The quantised model (OM)")->required();
  command->add_option("--count", flags->request.count, "Pictures to calibrate with at most")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--interval", flags->request.interval, "Of a video, every how many-th frame is taken")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--method", flags->method, "How ranges are chosen: auto takes the one with the least error")
      ->check(CLI::IsMember({"auto", "minmax", "percentile", "mse", "kl"}))
      ->capture_default_str();
  command->add_option("--percentile", flags->request.options.percentile, "Share of the values that percentile keeps, in %")
      ->check(CLI::Range(50.0, 100.0))
      ->capture_default_str();
  command->add_option("--error-limit", flags->request.options.error_limit,
                      "Relative error of the heads above which layers stay on real numbers")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  command->add_flag("!--no-tables", flags->request.options.tables,
                    "Compute activation functions instead of looking bytes up: slower, a little more exact");
  command->add_option("--keep", flags->keep, "Node, or OpType::NAME, that stays on real numbers; may be repeated");
  command->add_option("--batch-sizes", flags->request.model.gears, "Batch sizes to compile for")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option("--picture-format", flags->picture_format, "What the model is given: nv12 (as decoded) or rgb")
      ->check(CLI::IsMember({"nv12", "rgb"}))
      ->capture_default_str();
  command->add_option("--decoder", flags->request.model.decoder, "Box decoder for an ONNX file without description");
  command->add_option("--report", flags->report, "Write the report as JSON to this file (docs/quantization.md)");
  command->add_flag("--json", flags->json, "Print the report as JSON");
  command->callback([flags, &exit_code] { exit_code = Quantize(*flags); });
}

}  // namespace npustream::apps
