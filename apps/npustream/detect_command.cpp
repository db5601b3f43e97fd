#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/standard_streams.h"
#include "pipeline/config/picture_type.h"
#include "pipeline/config/source_kind.h"
#include "pipeline/run.h"

namespace npustream::apps {
namespace {

struct DetectFlags {
  std::string model;
  std::string decoder;
  std::string labels;
  std::string input;
  std::string output;
  std::string picture_format = "nv12";
  std::string precision = "fp32";
  std::optional<double> threshold;
  int batch = 8;
};

// One camera that writes its records when it has come to its end.
pipeline::RunConfig ConfigOf(const DetectFlags& flags) {
  pipeline::RunConfig config;
  config.models.resize(1);
  pipeline::ModelConfig& model = config.models[0];
  model.name = "model";
  model.request.model = flags.model;
  model.request.decoder = flags.decoder;
  model.request.labels_file = flags.labels;
  model.request.precision = flags.precision;
  model.request.picture_format =
      flags.picture_format == "rgb" ? serving::PictureFormat::kRgb888 : serving::PictureFormat::kNv12;
  model.batch_size = flags.batch;
  config.cameras.resize(1);
  pipeline::CameraConfig& camera = config.cameras[0];
  camera.kind = pipeline::SourceKindOf(flags.input);
  camera.location = camera.kind == pipeline::SourceKind::kUri ? flags.input : pipeline::PathOfSource(flags.input);
  camera.location_as_written = flags.input;
  const std::filesystem::path path(camera.location);
  camera.name = (path.has_filename() ? path : path.parent_path()).stem().string();
  if (camera.name.empty()) camera.name = "input";
  camera.model = model.name;
  camera.threshold = flags.threshold;
  config.outputs.records = flags.output;
  return config;
}

int Detect(const DetectFlags& flags) {
  pipeline::RunOptions options = ConsoleRunOptions();
  options.records_on_commit = true;
  options.on_failure = nullptr;  // there is one camera: the sentence comes at the end, without its name
  const pipeline::RunConfig config = ConfigOf(flags);
  if (Status known = pipeline::CheckModelRequest(config.models[0].request); !known.ok()) return Fail(known);
  const auto summary = pipeline::RunCameras(config, options);
  WipeProgress();
  if (!summary.ok()) {
    PrintMessage(summary.status().message());
    return kExitFailed;
  }
  const pipeline::CameraOutcome& camera = summary->cameras[0];
  if (!camera.failure.empty()) PrintMessage(camera.failure);
  if (camera.figures.frames_in == 0) return kExitFailed;
  std::string drops;
  for (const auto& [reason, count] : camera.figures.dropped) drops += fmt::format(", dropped ({}): {}", reason, count);
  Print(stderr, "frames: {}, records: {}{} in {:.1f} s\n", camera.figures.frames_in, camera.figures.records_out,
        drops, summary->wall_s);
  return camera.failure.empty() ? kExitDone : kExitFailed;
}

}  // namespace

void AddDetectCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("detect", "Find objects in a video, a picture or a folder of pictures");
  auto flags = std::make_shared<DetectFlags>();  // shared with the callback, which outlives this function
  command->add_option("--model", flags->model, "Model description (YAML), the name of one, an OM or an ONNX file")
      ->required();
  command
      ->add_option("--input", flags->input,
                   fmt::format("Video file, picture, folder of pictures ({}) or URI", pipeline::kPictureKinds))
      ->required();
  command->add_option("--output", flags->output, "Records, one JSON object a line; - is standard output")->required();
  command->add_option("--threshold", flags->threshold, "Least confidence, 0 to 1; default: the model's")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--batch", flags->batch, "Pictures that run together at most")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--precision", flags->precision, "What the model computes in: fp32, fp16 or bf16")
      ->check(CLI::IsMember({"fp32", "fp16", "bf16"}))
      ->capture_default_str();
  command->add_option("--picture-format", flags->picture_format, "What the model is given: nv12 (as decoded) or rgb")
      ->check(CLI::IsMember({"nv12", "rgb"}))
      ->capture_default_str();
  command->add_option("--decoder", flags->decoder,
                      "Box decoder for an OM or ONNX without description (yolox, yolov8, …)");
  command->add_option("--labels", flags->labels, "Text file with one label a line, in place of the model's");
  command->callback([flags, &exit_code] { exit_code = Detect(*flags); });
}

}  // namespace npustream::apps
