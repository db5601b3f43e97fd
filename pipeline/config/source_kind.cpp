#include "pipeline/config/source_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace npustream::pipeline {
namespace {

constexpr std::string_view kFileScheme = "file://";

}  // namespace

bool IsPictureName(const std::filesystem::path& name) {
  constexpr std::array<std::string_view, 5> kEndings{".jpg", ".jpeg", ".png", ".bmp", ".webp"};
  std::string ending = name.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

SourceKind SourceKindOf(const std::string& location) {
  if (location.find("://") != std::string::npos && !location.starts_with(kFileScheme)) return SourceKind::kUri;
  const std::filesystem::path path = PathOfSource(location);
  std::error_code error;
  return std::filesystem::is_directory(path, error) || IsPictureName(path) ? SourceKind::kPictures : SourceKind::kFile;
}

std::string PathOfSource(const std::string& location) {
  return location.starts_with(kFileScheme) ? location.substr(kFileScheme.size()) : location;
}

}  // namespace npustream::pipeline
