// npustream: flags → library call → exit code. Each subcommand has a file of its own.
#include <cmath>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/standard_streams.h"

namespace {

bool HasCommand(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; }).empty();
}

// No value of any flag may be empty, and no number may be none.
void RefuseEmptyValues(CLI::App& app) {
  const auto check = [](const std::string& text) -> std::string {
    if (text.empty()) return "must not be empty";
    char* end = nullptr;
    return std::isnan(std::strtod(text.c_str(), &end)) && *end == '\0' ? "is not a number" : "";
  };
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(check, "");
  }
  for (CLI::App* command : app.get_subcommands(nullptr)) RefuseEmptyValues(*command);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace npustream::apps;  // NOLINT: a program's own names
  npustream::ClaimStandardStreams();
  CLI::App app("Video analytics for many cameras on a (simulated) Ascend NPU", "npustream");
  app.set_version_flag("--version", "npustream " NPUSTREAM_VERSION);
  app.require_subcommand(1);
  int exit_code = kExitDone;
  AddBenchCommand(app, exit_code);
  AddCheckCommand(app, exit_code);
  AddCompareCommand(app, exit_code);
  AddDetectCommand(app, exit_code);
  AddModelsCommand(app, exit_code);
  AddQuantizeCommand(app, exit_code);
  AddRunCommand(app, exit_code);
  // CLI11 would only say that a subcommand is required.
  if (argc > 1 && argv[1][0] != '-' && !HasCommand(app, argv[1])) {
    PrintMessage(std::string("there is no command '") + argv[1] + "'; npustream --help lists them");
    return kExitWrongUse;
  }
  RefuseEmptyValues(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // help and version come this way too
      app.exit(error);
      return npustream::FlushStandardOutput() ? kExitDone : kExitFailed;
    }
    const bool named = argc > 1 && HasCommand(app, argv[1]);
    PrintMessage(std::string(error.what()) + "; see npustream " + (named ? argv[1] + std::string(" ") : "") + "--help");
    return kExitWrongUse;
  }
  if (!npustream::FlushStandardOutput() && exit_code == kExitDone) return kExitFailed;
  return exit_code;
}
