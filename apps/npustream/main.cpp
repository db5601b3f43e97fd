// npustream: flags → library call → exit code. Each subcommand has a file of its own.
#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"

int main(int argc, char** argv) {
  using namespace npustream::apps;  // NOLINT: a program's own names
  CLI::App app("Video analytics for many cameras on a (simulated) Ascend NPU", "npustream");
  app.set_version_flag("--version", "npustream " NPUSTREAM_VERSION);
  app.require_subcommand(1);
  int exit_code = kExitDone;
  AddBenchCommand(app, exit_code);
  AddCheckCommand(app, exit_code);
  AddDetectCommand(app, exit_code);
  AddModelsCommand(app, exit_code);
  AddRunCommand(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come this way too, with code 0.
    return app.exit(error) == 0 ? kExitDone : kExitWrongUse;
  }
  return exit_code;
}
