#include "pipeline/config/expand_env.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace npustream::pipeline {
namespace {

bool IsName(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// The value of what stands between ${ and }.
Result<std::string> ValueOf(std::string_view inside) {
  const size_t fallback = inside.find(":-");
  const std::string name(inside.substr(0, fallback));
  if (!IsName(name)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("'${{{}}}' does not name an environment variable", inside));
  }
  const char* value = std::getenv(name.c_str());
  if (value != nullptr && (*value != '\0' || fallback == std::string_view::npos)) return std::string(value);
  if (fallback != std::string_view::npos) return std::string(inside.substr(fallback + 2));
  return Status(StatusCode::kNotFound, fmt::format("the environment variable {} is not set", name));
}

bool IsPort(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

Result<std::string> ExpandEnvironment(std::string_view text) {
  std::string expanded;
  while (!text.empty()) {
    const size_t begin = text.find("${");
    expanded += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const size_t end = text.find('}', begin);
    if (end == std::string_view::npos) return Status(StatusCode::kInvalidArgument, "a '${' is not closed by '}'");
    NPUSTREAM_ASSIGN_OR_RETURN(const std::string value, ValueOf(text.substr(begin + 2, end - begin - 2)));
    expanded += value;
    text.remove_prefix(end + 1);
  }
  return expanded;
}

std::string WithoutPassword(std::string_view uri) {
  const size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos) return std::string(uri);
  const size_t begin = scheme + 3, host_end = std::min(uri.find_first_of("/?#", begin), uri.size());
  // The last '@' before the path ends the user's part; a password may contain others.
  size_t at = uri.substr(0, host_end).rfind('@');
  const size_t colon = uri.find(':', begin);
  if (at == std::string_view::npos || at < begin) {
    // A '/' in a password makes no valid URI, but the password no less a secret: what follows the colon is no port.
    if (colon >= host_end || IsPort(uri.substr(colon + 1, host_end - colon - 1)) || uri[begin] == '[')
      return std::string(uri);
    at = uri.rfind('@');
  }
  if (at == std::string_view::npos || at < begin || colon >= at) return std::string(uri);
  return fmt::format("{}:***{}", uri.substr(0, colon), uri.substr(at));
}

}  // namespace npustream::pipeline
