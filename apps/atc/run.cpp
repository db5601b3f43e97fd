#include "apps/atc/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "apps/atc/convert.h"
#include "apps/atc/flags.h"
#include "apps/atc/model_json.h"
#include "apps/atc/om_info.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/standard_streams.h"

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

// `where` gets the reason, which may quote any bytes of a file.
int Fail(const Failure& failure, std::FILE* where) {
  Print(stdout, "ATC run failed, Please check the detail log, Try 'atc --help' for more information\n");
  std::fflush(stdout);
  Print(where, "{}: {}\n", failure.code, Printable(failure.message));
  return 1;
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  const Outcome<FlagValues> flags = ParseFlags(arguments);
  // The vendor's parser of flags complains on stderr.
  if (!flags.ok()) return Fail(flags.failure(), stderr);
  if (flags.value().Get("help") == "true") {
    Print(stdout, "{}", HelpText());
    return 0;
  }
  SetLevel(flags.value().Get("log"));
  Print(stdout, "ATC start working now, please wait for a moment.\n...\n");
  std::fflush(stdout);
  if (const Check failure = RunMode(flags.value(), fmt::format("atc {}", fmt::join(arguments, " ")))) {
    return Fail(*failure, stdout);
  }
  Print(stdout, "ATC run success, welcome to the next use.\n");
  return 0;
}

}  // namespace npustream::atc
