#include "base/log.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/printable.h"

namespace npustream {
namespace {

LogLevel LevelFromEnvironment() {
  const char* name = std::getenv("NPUSTREAM_LOG");
  const std::string_view text = name ? name : "";
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "error") return LogLevel::kError;
  if (text == "off") return LogLevel::kOff;
  return LogLevel::kWarning;
}

std::atomic<LogLevel>& Threshold() {
  static std::atomic<LogLevel> threshold = LevelFromEnvironment();
  return threshold;
}

spdlog::logger& Logger() {
  // Never destroyed: threads of other libraries may still log while static objects go.
  static auto& logger = *new std::shared_ptr<spdlog::logger>([] {
    auto made = std::make_shared<spdlog::logger>("npustream", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    made->set_level(spdlog::level::trace);
    return made;
  }());
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

void SetLogLevel(LogLevel level) { Threshold() = level; }

bool LogEnabled(LogLevel level) { return level >= Threshold().load(std::memory_order_relaxed); }

void WriteLog(LogLevel level, std::string_view component, std::string_view message) {
  Logger().log(ToSpdlog(level), "{}: {}", component, Printable(message));
}

}  // namespace npustream
