#pragma once

#include <string_view>

#include <fmt/format.h>

namespace npustream {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// Messages below `level` are not written. The default is kWarning, or what NPUSTREAM_LOG names (debug, info, warning,
// error, off). Thread-safe.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
// Writes one line to stderr: time, level, `component`, message. Thread-safe.
void WriteLog(LogLevel level, std::string_view component, std::string_view message);

// Formats only when the level is written: `Log(LogLevel::kInfo, "vdec", "channel {} opened", id)`.
template <typename... Args>
void Log(LogLevel level, std::string_view component, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(level)) WriteLog(level, component, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace npustream
