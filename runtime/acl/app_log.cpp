#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include <acl/acl_base.h>

#include "base/log.h"

// The program's own messages go where ours go; NPUSTREAM_LOG decides which are written.
void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...) {
  using npustream::LogLevel;
  LogLevel level = LogLevel::kError;
  if (logLevel == ACL_DEBUG) level = LogLevel::kDebug;
  if (logLevel == ACL_INFO) level = LogLevel::kInfo;
  if (logLevel == ACL_WARNING) level = LogLevel::kWarning;
  if (fmt == nullptr || !npustream::LogEnabled(level)) return;

  std::array<char, 1024> text{};  // what is longer is cut
  va_list arguments;
  va_start(arguments, fmt);
  std::vsnprintf(text.data(), text.size(), fmt, arguments);
  va_end(arguments);
  std::string_view path = file == nullptr ? "" : file;
  path.remove_prefix(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  npustream::Log(level, "app", "[{}:{} {}] {}", path, line, func == nullptr ? "" : func, text.data());
}
