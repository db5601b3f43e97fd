#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/file.h"
#include "base/standard_streams.h"
#include "pipeline/config/load_config.h"
#include "pipeline/run.h"

namespace npustream::apps {
namespace {

struct RunFlags {
  std::string config;
  std::string summary_json;
  std::string annotate;
  double duration_s = 0;
};

int Run(const RunFlags& flags) {
  auto config = pipeline::LoadRunConfig(flags.config);
  if (!config.ok()) {
    PrintMessage(config.status().message());
    return kExitWrongUse;
  }
  if (!flags.annotate.empty()) config->outputs.video = flags.annotate;
  config->outputs.summary = flags.summary_json;
  pipeline::RunOptions options = ConsoleRunOptions();
  options.duration_s = flags.duration_s;
  const auto summary = pipeline::RunCameras(*config, options);
  WipeProgress();
  if (!summary.ok()) {
    PrintMessage(summary.status().message());
    return kExitFailed;
  }
  // Records may have taken standard output.
  Print(config->outputs.records == "-" ? stderr : stdout, "{}", pipeline::SummaryTables(*summary));
  if (const std::string& file = config->outputs.summary; !file.empty()) {
    if (Status status = WriteFileAtomically(file, pipeline::SummaryJson(*summary) + "\n"); !status.ok()) {
      PrintMessage(status.message());
      return kExitFailed;
    }
  }
  return summary->AnyFailed() ? kExitFailed : kExitDone;
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run the cameras of a configuration file");
  auto flags = std::make_shared<RunFlags>();  // shared with the callback, which outlives this function
  command->add_option("-c,--config", flags->config, "YAML file of cameras (docs/configuration.md)")->required();
  command->add_option("--duration", flags->duration_s, "Stop after so many seconds; 0: when all cameras have ended")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--summary-json", flags->summary_json, "Write figures of cameras and models to this file");
  command->add_option("--annotate", flags->annotate, "Write an MP4 with boxes and labels; replaces outputs: video:");
  command->callback([flags, &exit_code] { exit_code = Run(*flags); });
}

}  // namespace npustream::apps
