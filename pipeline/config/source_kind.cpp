#include "pipeline/config/source_kind.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "pipeline/config/picture_type.h"

namespace npustream::pipeline {
namespace {

constexpr std::string_view kFileScheme = "file://";
constexpr std::string_view kNetworkSchemes[] = {"http", "https", "rtmp", "rtsp", "rtsps", "rtspt", "rtspu"};

}  // namespace

SourceKind SourceKindOf(const std::string& location) {
  if (location.find("://") != std::string::npos && !location.starts_with(kFileScheme)) return SourceKind::kUri;
  const std::filesystem::path path = PathOfSource(location);
  std::error_code error;
  return std::filesystem::is_directory(path, error) || IsPictureFile(path) ? SourceKind::kPictures : SourceKind::kFile;
}

std::string PathOfSource(const std::string& location) {
  return location.starts_with(kFileScheme) ? location.substr(kFileScheme.size()) : location;
}

std::string MistakeOfUri(const std::string& uri) {
  const size_t scheme_end = uri.find("://");
  if (scheme_end == std::string::npos) return "";
  const std::string scheme = uri.substr(0, scheme_end);
  const bool network = std::find(std::begin(kNetworkSchemes), std::end(kNetworkSchemes), scheme) != std::end(kNetworkSchemes);
  if (!network) return "";
  std::string_view authority(uri);
  authority.remove_prefix(scheme_end + 3);
  // A password may hold anything but a bare @.
  const size_t at = authority.rfind('@');
  if (at != std::string_view::npos) authority.remove_prefix(at + 1);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  if (authority.substr(0, has_port ? colon : std::string_view::npos).empty()) return "names no host";
  if (!has_port) return "";
  const std::string_view port = authority.substr(colon + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool whole = error == std::errc() && end == port.data() + port.size();
  return whole && number >= 1 && number <= 65535 ? "" : "has a port that is none; ports are 1 to 65535";
}

}  // namespace npustream::pipeline
