#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/standard_streams.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/model_report.h"
#include "runtime/serving/model_catalog.h"
#include "runtime/serving/model_pull.h"

namespace npustream::apps {
namespace {

int List() {
  for (const serving::ModelListing& listing : serving::ListModels()) {
    const std::string state = !listing.status.ok()   ? listing.status.message()
                              : listing.file.empty() ? fmt::format("not here; npustream models pull {}", listing.name)
                                                     : listing.file.string();
    Print(stdout, "{:<16} {:<12} {:<12} {}\n", listing.name, listing.model.decoder.type, listing.model.licence, state);
  }
  return kExitDone;
}

const char* NameOf(serving::FitMode fit) {
  switch (fit) {
    case serving::FitMode::kStretch: return "stretch";
    case serving::FitMode::kLetterbox: return "letterbox, top left";
    case serving::FitMode::kLetterboxCenter: return "letterbox, centred";
  }
  return "";
}

void PrintDescription(const serving::ModelDescription& model) {
  Print(stdout, "name:           {}\nversion:        {}\ndecoder:        {}\nfit:            {}\ncolor order:    {}\n",
        model.name, model.version, model.decoder.type, NameOf(model.fit),
        model.color_order == serving::ColorOrder::kRgb ? "RGB" : "BGR");
  Print(stdout, "mean:           {} {} {}\nstd:            {} {} {}\npad:            {}\n", model.mean[0], model.mean[1],
        model.mean[2], model.std[0], model.std[1], model.std[2], model.pad_value);
  Print(stdout, 
      "threshold:      {}\nNMS overlap:    {}\nlabels:         {}\nlicence:        {}\nsource:         {}\n"
      "sha256:         {}\n",
      model.threshold, model.nms_iou, model.labels.size(), model.licence, model.source_url, model.sha256);
}

const char* NameOf(om::Format format) {
  return format == om::Format::kNchw ? "NCHW" : format == om::Format::kNhwc ? "NHWC" : "ND";
}

void PrintPort(const char* side, size_t index, const om::PortInfo& port, const om::Dims& dims) {
  Print(stdout, "{:<15} {} {} [{}] {}\n", fmt::format("{} {}:", side, index), port.name, om::ToString(port.type),
        fmt::join(dims, ","), NameOf(port.format));
}

// What an offline model holds and needs.
int OmInfo(const std::string& path) {
  const auto file = om::OmFile::Open(path);
  if (!file.ok()) return Fail(file.status());
  const auto report = program::ReportModel(**file);
  if (!report.ok()) return Fail(report.status());
  const om::OmInfo& info = (*file)->info();
  Print(stdout, "name:           {}\nchip:           {}\ncompiled by:    {}\nchosen by run:  {}\nAIPP:           {}\n", info.name,
        info.soc, info.command_line, om::ToString(info.dynamic), info.aipp.empty() ? "none" : "static");
  for (size_t i = 0; i < info.inputs.size(); ++i) PrintPort("input", i, info.inputs[i], info.InputDims(i));
  for (size_t i = 0; i < info.outputs.size(); ++i) PrintPort("output", i, info.outputs[i], info.OutputDims(i));
  Print(stdout, "{}", program::ToText(*report));
  return kExitDone;
}

int Info(const std::string& name) {
  if (name.ends_with(".om")) return OmInfo(name);
  const auto path = serving::FindDescription(name);
  if (!path.ok()) return Fail(path.status());
  const auto model = serving::LoadModelDescription(*path);
  if (!model.ok()) return Fail(model.status());
  PrintDescription(*model);
  const auto file = serving::LocateModelFile(*model);
  Print(stdout, "description:    {}\nfile:           {}\n", path->string(),
        file.ok() ? file->string() : file.status().message());
  return kExitDone;
}

int Pull(const std::string& name) {
  if (Status known = serving::FindDescription(name).status(); !known.ok()) return Fail(known);
  serving::PullOptions options;
  options.progress = [&](uint64_t bytes, uint64_t total) {
    ShowProgressLine(total > 0 ? fmt::format("{}: {} of {} bytes", name, bytes, total)
                               : fmt::format("{}: {} bytes", name, bytes));
  };
  const auto pulled = serving::PullModel(name, options);
  WipeProgress();
  if (!pulled.ok()) {
    PrintMessage(pulled.status().message());
    return kExitFailed;
  }
  Print(stdout, "{}{}\n", pulled->file.string(), pulled->was_there ? " (was there already)" : "");
  return kExitDone;
}

}  // namespace

void AddModelsCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("models", "The models that are known by name");
  command->require_subcommand(1);
  command->add_subcommand("list", "All of them, and where their files are")->callback([&exit_code] {
    exit_code = List();
  });
  auto name = std::make_shared<std::string>();  // shared by the callbacks, which outlive this function
  CLI::App* info = command->add_subcommand("info", "What a model's description says, or what an OM holds and needs");
  info->add_option("name", *name, "The model's name, or an OM")->required();
  info->callback([name, &exit_code] { exit_code = Info(*name); });
  CLI::App* pull =
      command->add_subcommand("pull", "Bring a public model's file, from NPUSTREAM_MODEL_MIRROR or its source");
  pull->add_option("name", *name, "The model's name")->required();
  pull->callback([name, &exit_code] { exit_code = Pull(*name); });
}

}  // namespace npustream::apps
