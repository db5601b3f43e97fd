#include "apps/atc/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "apps/atc/convert.h"
#include "apps/atc/flags.h"
#include "apps/atc/model_json.h"
#include "apps/atc/om_info.h"
#include "base/log.h"

namespace npustream::atc {
namespace {

void SetLevel(const std::string& level) {
  if (level == "debug") SetLogLevel(LogLevel::kDebug);
  if (level == "info") SetLogLevel(LogLevel::kInfo);
  if (level == "warning") SetLogLevel(LogLevel::kWarning);
  if (level == "error") SetLogLevel(LogLevel::kError);
}

Check RunMode(const FlagValues& flags, const std::string& command_line) {
  const std::string mode = flags.Get("mode");
  if (mode == "0") return ConvertModel(flags, command_line);
  if (mode == "1") return WriteModelJson(flags);
  if (mode == "3") return PrecheckModel(flags, command_line);
  if (mode == "6") {
    if (!flags.Has("om")) return Failure{"E10007", "Parameter [--om] is required"};
    return PrintOmInfo(flags.Get("om"));
  }
  return InvalidValue("mode", mode, "this version does not support the mode");
}

int Fail(const Failure& failure) {
  fmt::print("ATC run failed, Please check the detail log, Try 'atc --help' for more information\n");
  fmt::print("{}: {}\n", failure.code, failure.message);
  return 1;
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  const Outcome<FlagValues> flags = ParseFlags(arguments);
  if (!flags.ok()) {
    // Like the vendor's parser of flags, before the tool itself says anything.
    fmt::print(stderr, "ERROR: {}\n", flags.failure().message);
    return Fail(flags.failure());
  }
  if (flags.value().Get("help") == "true" || arguments.empty()) {
    fmt::print("{}", HelpText());
    return 0;
  }
  SetLevel(flags.value().Get("log"));
  fmt::print("ATC start working now, please wait for a moment.\n...\n");
  std::fflush(stdout);
  if (const Check failure = RunMode(flags.value(), fmt::format("atc {}", fmt::join(arguments, " ")))) {
    return Fail(*failure);
  }
  fmt::print("ATC run success, welcome to the next use.\n");
  return 0;
}

}  // namespace npustream::atc
