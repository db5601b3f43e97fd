#include "pipeline/config/records_path.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace npustream::pipeline {
namespace {

constexpr std::string_view kCameraMark = "{camera}";

}  // namespace

const std::vector<std::string_view>& RecordsPlaceholders() {
  static const std::vector<std::string_view> placeholders{kCameraMark};
  return placeholders;
}

std::string RecordsPath(const RunConfig& config, const CameraConfig& camera) {
  std::string path = camera.records.empty() ? config.outputs.records : camera.records;
  for (size_t mark = path.find(kCameraMark); mark != std::string::npos;
       mark = path.find(kCameraMark, mark + camera.name.size())) {
    path.replace(mark, kCameraMark.size(), camera.name);
  }
  return path;
}

std::string SeparateRecordsPath(const RunConfig& config, const CameraConfig& camera) {
  const std::string path = RecordsPath(config, camera);
  const auto same = std::count_if(config.cameras.begin(), config.cameras.end(),
                                  [&](const CameraConfig& other) { return RecordsPath(config, other) == path; });
  if (path.empty() || path == "-" || same < 2) return path;
  std::filesystem::path separate(path);
  return separate.replace_filename(separate.stem().string() + "." + camera.name + separate.extension().string())
      .string();
}

}  // namespace npustream::pipeline
