#include "pipeline/config/source_kind.h"

#include <string_view>

#include "pipeline/config/picture_type.h"

namespace npustream::pipeline {
namespace {

constexpr std::string_view kFileScheme = "file://";

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

}  // namespace npustream::pipeline
