#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/file.h"
#include "base/standard_streams.h"
#include "npu_sim/compiler/aipp/resolve_aipp.h"
#include "npu_sim/compiler/quantize/plan_quantization.h"
#include "npu_sim/compiler/quantize/report.h"
#include "npu_sim/om/om_writer.h"
#include "pipeline/calibration/model_pictures.h"
#include "runtime/serving/acl_session.h"
#include "runtime/serving/aipp_config.h"

namespace npustream::apps {
namespace {

namespace fs = std::filesystem;

struct QuantizeFlags {
  serving::ModelRequest request;
  std::string model;
  std::string images;
  std::string output;
  std::string report;
  std::string method = "mse";
  std::string picture_format = "nv12";
  std::vector<std::string> keep;
  std::vector<int64_t> batches = {1, 2, 4, 8};
  compiler::QuantizationOptions options;
  size_t count = 32;
  int interval = 10;
  bool json = false;
};

// What the model is compiled with, quantised or not: pictures through AIPP, as the elements have it compiled.
Result<compiler::CompileOptions> CompileOptionsOf(const QuantizeFlags& flags, const compiler::OnnxModel& model,
                                                  const serving::ModelDescription& description,
                                                  const pipeline::ModelPictures& pictures) {
  compiler::CompileOptions options;
  options.model_name = fs::path(flags.output).stem();
  options.soc = serving::SocName();
  options.command_line = fmt::format("npustream quantize {}", flags.model);
  const compiler::OnnxValue& input = model.graph.inputs.front();
  int64_t batch = input.dims.empty() ? 1 : input.dims[0].size;
  if (batch <= 1) {
    batch = flags.batches.size() > 1 ? -1 : flags.batches.front();
    if (flags.batches.size() > 1) options.gears = compiler::GearOptions::Batches(flags.batches);
  }
  const om::Dims dims = {batch, 3, pictures.height, pictures.width};
  options.input_shapes[input.name] = dims;
  NPUSTREAM_ASSIGN_OR_RETURN(
      const auto blocks,
      compiler::ParseAipp(
          serving::AippConfig(description, flags.request.picture_format, pictures.width, pictures.height), "AIPP"));
  NPUSTREAM_ASSIGN_OR_RETURN(options.aipp, compiler::ResolveAipp(blocks, {{input.name, input.type, dims}}));
  return options;
}

Status Compile(const compiler::OnnxModel& model, const compiler::CompileOptions& options, const fs::path& path) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::OmModel compiled, compiler::Compile(model, options));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  return WriteFileAtomically(path, std::span<const std::byte>(bytes));
}

Status QuantizeModel(QuantizeFlags& flags) {
  NPUSTREAM_ASSIGN_OR_RETURN(const serving::ModelDescription description, serving::DescribeModel(flags.request));
  if (description.file.extension() != ".onnx") {
    return {StatusCode::kInvalidArgument, fmt::format("{} is compiled already; the model to quantise is an ONNX file",
                                                      description.file.string())};
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const compiler::OnnxModel model, compiler::ReadOnnxModel(description.file));
  ShowProgressLine("reading pictures");
  NPUSTREAM_ASSIGN_OR_RETURN(pipeline::ModelPictures pictures,
                             pipeline::ReadModelPictures(flags.request, flags.images, flags.count, flags.interval));
  NPUSTREAM_ASSIGN_OR_RETURN(compiler::CompileOptions options, CompileOptionsOf(flags, model, description, pictures));
  compiler::CalibrationData data;
  data.through_aipp = true;
  om::Bytes& samples = data.inputs.emplace_back();
  for (const std::vector<std::byte>& picture : pictures.pictures)
    samples.insert(samples.end(), picture.begin(), picture.end());
  flags.options.notify = ShowProgressLine;
  NPUSTREAM_ASSIGN_OR_RETURN(compiler::QuantizationScheme scheme,
                             compiler::PlanQuantization(model, options, data, flags.options));
  WipeProgress();
  options.quantization = std::make_shared<const compiler::QuantizationScheme>(scheme);
  NPUSTREAM_RETURN_IF_ERROR(Compile(model, options, flags.output));
  const std::string json = compiler::ReportJson(scheme) + "\n";
  Print(stdout, "{}", flags.json ? json : compiler::ReportText(scheme));
  return flags.report.empty() ? Status() : WriteFileAtomically(flags.report, std::string_view(json));
}

int Quantize(QuantizeFlags flags) {
  flags.request.model = flags.model;
  if (flags.picture_format == "rgb") flags.request.picture_format = serving::PictureFormat::kRgb888;
  flags.options.method = compiler::RangeMethodOf(flags.method);
  flags.options.real_nodes.insert(flags.keep.begin(), flags.keep.end());
  const Status status = QuantizeModel(flags);
  WipeProgress();
  return status.ok() ? kExitDone : Fail(status);
}

}  // namespace

void AddQuantizeCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("quantize", "Make a model run on 8-bit integers, calibrated with pictures");
  auto flags = std::make_shared<QuantizeFlags>();  // shared with the callback, which outlives this function
  command->add_option("model", flags->model, "Model description (YAML), the name of one, or an ONNX file")->required();
  command->add_option("--images", flags->images, "Folder of pictures, picture or video to calibrate with")->required();
  command->add_option("-o,--output", flags->output, "The quantised model (OM)")->required();
  command->add_option("--count", flags->count, "Pictures to calibrate with at most")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--interval", flags->interval, "Of a video, every how many-th frame is taken")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--method", flags->method, "How ranges are chosen: auto takes the one with the least error")
      ->check(CLI::IsMember({"auto", "minmax", "percentile", "mse", "kl"}))
      ->capture_default_str();
  command->add_option("--percentile", flags->options.percentile, "Share of the values that percentile keeps, in %")
      ->check(CLI::Range(50.0, 100.0))
      ->capture_default_str();
  command->add_option("--error-limit", flags->options.error_limit,
                      "Relative error of the heads above which layers stay on real numbers")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  command->add_flag("!--no-tables", flags->options.tables,
                    "Compute activation functions instead of looking bytes up: slower, a little more exact");
  command->add_option("--keep", flags->keep, "Node, or OpType::NAME, that stays on real numbers; may be repeated");
  command->add_option("--batch-sizes", flags->batches, "Batch sizes to compile for")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option("--picture-format", flags->picture_format, "What the model is given: nv12 (as decoded) or rgb")
      ->check(CLI::IsMember({"nv12", "rgb"}))
      ->capture_default_str();
  command->add_option("--decoder", flags->request.decoder, "Box decoder for an ONNX file without description");
  command->add_option("--report", flags->report, "Write the report as JSON to this file (docs/quantization.md)");
  command->add_flag("--json", flags->json, "Print the report as JSON");
  command->callback([flags, &exit_code] { exit_code = Quantize(*flags); });
}

}  // namespace npustream::apps
