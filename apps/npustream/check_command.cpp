#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/standard_streams.h"
#include "pipeline/config/load_config.h"
#include "pipeline/graph/launch_line.h"

namespace npustream::apps {
namespace {

void PrintPipelines(const pipeline::RunConfig& config) {
  for (const pipeline::CameraConfig& camera : config.cameras) {
    Print(stdout, "{}", pipeline::CameraScript(config, camera));
  }
}

int Check(const std::string& path, bool print_pipeline) {
  const auto config = pipeline::LoadRunConfig(path);
  if (!config.ok()) {
    PrintMessage(config.status().message());
    return kExitWrongUse;
  }
  if (print_pipeline) {
    PrintPipelines(*config);
  } else {
    Print(stdout, "{}: {} camera{}, {} model{}, no mistakes found\n", path, config->cameras.size(),
          config->cameras.size() == 1 ? "" : "s", config->models.size(), config->models.size() == 1 ? "" : "s");
  }
  return kExitDone;
}

}  // namespace

void AddCheckCommand(CLI::App& app, int& exit_code) {
  struct Flags {
    std::string config;
    bool print_pipeline = false;
  };
  CLI::App* command = app.add_subcommand("check", "Look for mistakes in a configuration file without opening cameras");
  auto flags = std::make_shared<Flags>();  // shared with the callback, which outlives this function
  command->add_option("-c,--config", flags->config, "YAML file of cameras (docs/configuration.md)")->required();
  command->add_flag("--print-pipeline", flags->print_pipeline, "Print each camera as a gst-launch-1.0 command");
  command->callback([flags, &exit_code] { exit_code = Check(flags->config, flags->print_pipeline); });
}

}  // namespace npustream::apps
