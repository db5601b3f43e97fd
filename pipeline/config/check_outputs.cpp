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

// Whether both names will lead to one regular file once both are written.
bool WillBeOneFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  const bool special = fs::exists(a, error) && !fs::is_regular_file(a, error);
  return !special && fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

struct Output {
  std::string what, path;
};

}  // namespace

Status CheckOutputs(const RunConfig& config) {
  std::vector<Output> outputs;
  for (const std::string& records : RecordsOf(config)) outputs.push_back({"records", records});
  if (!config.outputs.video.empty()) outputs.push_back({"video", config.outputs.video});
  if (!config.outputs.summary.empty()) outputs.push_back({"summary", config.outputs.summary});
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (outputs[i].what == outputs[k].what || !WillBeOneFile(outputs[i].path, outputs[k].path)) continue;
      return Status(StatusCode::kInvalidArgument, fmt::format("{} cannot be both {} and {}", outputs[i].path,
                                                              outputs[k].what, outputs[i].what));
    }
    for (const std::string& input : InputsOf(config)) {
      if (!AreOneFile(input, outputs[i].path)) continue;
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} is read as {} and would be overwritten", outputs[i].path, input));
    }
  }
  return {};
}

}  // namespace npustream::pipeline
