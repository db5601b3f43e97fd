#include "pipeline/config/check_outputs.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pipeline/config/records_path.h"

namespace npustream::pipeline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> InputsOf(const RunConfig& config) {
  std::vector<std::string> inputs = {config.file};
  for (const CameraConfig& camera : config.cameras) {
    if (camera.kind != SourceKind::kUri) inputs.push_back(camera.location);
  }
  for (const ModelConfig& model : config.models) {
    inputs.push_back(model.request.model);
    inputs.push_back(model.request.labels_file);
  }
  return inputs;
}

std::set<std::string> RecordsOf(const RunConfig& config) {
  std::set<std::string> records;
  for (const CameraConfig& camera : config.cameras) records.insert(RecordsPath(config, camera));
  records.erase("");
  records.erase("-");
  return records;
}

// Whether both names lead to one regular file; devices may be named twice.
bool AreOneFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
}

}  // namespace

Status CheckOutputs(const RunConfig& config) {
  std::set<std::string> outputs = RecordsOf(config);
  const std::string& video = config.outputs.video;
  std::error_code ignored;
  if (!video.empty()) {
    for (const std::string& records : outputs) {
      if (fs::weakly_canonical(records, ignored) == fs::weakly_canonical(video, ignored)) {
        return Status(StatusCode::kInvalidArgument, fmt::format("{} cannot be both records and video", video));
      }
    }
    outputs.insert(video);
  }
  for (const std::string& output : outputs) {
    for (const std::string& input : InputsOf(config)) {
      if (!AreOneFile(input, output)) continue;
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} is read as {} and would be overwritten", output, input));
    }
  }
  return {};
}

}  // namespace npustream::pipeline
