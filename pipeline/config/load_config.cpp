#include "pipeline/config/load_config.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/thread_budget.h"
#include "elements/postprocess/box_decoder.h"
#include "pipeline/config/check_outputs.h"
#include "pipeline/config/expand_env.h"
#include "pipeline/config/records_path.h"
#include "pipeline/config/source_kind.h"
#include "runtime/serving/model_description.h"
#include "runtime/serving/model_store.h"
#include "runtime/serving/yaml_reader.h"

namespace npustream::pipeline {
namespace {

namespace fs = std::filesystem;
using serving::YamlMap;

constexpr int kMostCameras = 1024;

// A text with ${…} replaced; the mistake of a variable that is not set stays with the map.
std::string ExpandedText(YamlMap& map, std::string_view key, std::string otherwise = "") {
  const Result<std::string> expanded = ExpandEnvironment(map.Text(key, std::move(otherwise)));
  if (expanded.ok()) return *expanded;
  map.Fail(key, expanded.status().message());
  return "";
}

std::string Under(const fs::path& folder, const std::string& path) {
  return path.empty() || fs::path(path).is_absolute() ? path : (folder / path).lexically_normal().string();
}

// A description's name stays a name; what looks like a path starts at the folder.
std::string DescriptionUnder(const fs::path& folder, const std::string& text) {
  const bool path = text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
  return path ? Under(folder, text) : text;
}

// What stands under `description` or `file`: exactly one of the two.
std::string ReadModelName(YamlMap& map, const fs::path& folder) {
  const std::string description = DescriptionUnder(folder, ExpandedText(map, "description"));
  const std::string file = Under(folder, ExpandedText(map, "file"));
  if (map.Has("description") == map.Has("file")) {
    map.Fail("description", "a model has either 'description' or 'file'");
  } else if (map.Has("file") && !file.ends_with(".onnx") && !file.ends_with(".om")) {
    map.Fail("file", fmt::format("{} is neither an ONNX file (.onnx) nor an OM (.om)", file));
  } else if (map.Has("file") && !map.Has("decoder")) {
    map.Fail("file", "a file needs a 'decoder'");
  }
  return map.Has("file") ? file : description;
}

std::string ReadDecoder(YamlMap& map) {
  if (!map.Has("decoder")) return "";
  const std::vector<std::string_view> names = elements::BoxDecoderNames();
  return std::string(names[map.Choice("decoder", names, 0)]);
}

void CheckModelFiles(YamlMap& map, const serving::ModelRequest& request) {
  if (map.Has("labels")) {
    if (Status status = serving::LoadLabels(request.labels_file).status(); !status.ok())
      map.Fail("labels", status.message());
  }
  if (const Status status = serving::DescribeModel(request).status(); !status.ok()) {
    map.Fail(map.Has("file") ? "file" : "description", status.message());
  }
}

ModelConfig ReadModel(YamlMap& map, const std::string& name, const fs::path& folder) {
  ModelConfig model;
  model.name = name;
  model.request.model = ReadModelName(map, folder);
  model.request.decoder = ReadDecoder(map);
  model.request.labels_file = Under(folder, ExpandedText(map, "labels"));
  model.request.picture_format = map.Choice("picture-format", {"nv12", "rgb"}, 0) == 1 ? serving::PictureFormat::kRgb888
                                                                                       : serving::PictureFormat::kNv12;
  model.request.precision =
      std::vector<std::string>{"fp32", "fp16", "bf16"}[map.Choice("precision", {"fp32", "fp16", "bf16"}, 0)];
  model.batch_size = map.Integer("batch-size", 1, 64, model.batch_size);
  model.batch_timeout_ms = map.Integer("batch-timeout-ms", 0, 60'000, model.batch_timeout_ms);
  model.queue_size = map.Integer("queue-size", 1, 4096, model.queue_size);
  const auto& policies = serving::kQueuePolicyNames;
  model.queue_policy =
      static_cast<serving::QueuePolicy>(map.Choice("queue-policy", {policies.begin(), policies.end()}, 0));
  model.device = map.Integer("device", 0, 15, model.device);
  model.weight = map.Number("weight", 0.02, 100, model.weight);
  map.RefuseOtherKeys();
  CheckModelFiles(map, model.request);
  return model;
}

std::vector<ModelConfig> ReadModels(YamlMap& root, const fs::path& folder) {
  std::vector<ModelConfig> models;
  YamlMap map = root.Map("models");
  for (const std::string& name : map.Keys()) {
    YamlMap entry = map.Map(name);
    models.push_back(ReadModel(entry, name, folder));
  }
  if (!root.Has("models")) {
    models.emplace_back();
    models[0].name = models[0].request.model = "coco-day";
  } else if (models.empty()) {
    root.Fail("models", "names no model");
  }
  return models;
}

std::optional<Region> ReadRegion(YamlMap& map) {
  YamlMap entry = map.Map("region");
  if (!map.Has("region")) return std::nullopt;
  Region region;
  region.x = entry.Number("x", 0, 1, 0);
  region.y = entry.Number("y", 0, 1, 0);
  region.w = entry.Number("w", 0, 1, 1 - region.x);
  region.h = entry.Number("h", 0, 1, 1 - region.y);
  entry.RefuseOtherKeys();
  constexpr double kRounding = 1e-9;
  if (region.w <= 0 || region.h <= 0 || region.x + region.w > 1 + kRounding || region.y + region.h > 1 + kRounding) {
    map.Fail("region", "must lie within the frame and not be empty (x + w and y + h at most 1)");
  }
  return region;
}

void CheckModel(YamlMap& map, const std::vector<ModelConfig>& models, const std::string& model) {
  std::vector<std::string> names;
  for (const ModelConfig& known : models) names.push_back(known.name);
  if (model.empty()) {
    map.Fail("model", fmt::format("is missing; known are {}", fmt::join(names, ", ")));
  } else if (std::find(names.begin(), names.end(), model) == names.end()) {
    map.Fail("model", fmt::format("there is no model '{}'; known are {}", model, fmt::join(names, ", ")));
  }
}

// A path in which the placeholders that are given, and no others, stand for something.
std::string ReadOutputPath(YamlMap& map, std::string_view key, std::string otherwise,
                           const std::vector<std::string_view>& placeholders) {
  const std::string path = ExpandedText(map, key, std::move(otherwise));
  for (size_t at = path.find('{'); at != std::string::npos; at = path.find('{', at + 1)) {
    const std::string_view placeholder = std::string_view(path).substr(at, path.find('}', at) - at + 1);
    if (std::find(placeholders.begin(), placeholders.end(), placeholder) != placeholders.end()) continue;
    map.Fail(key, placeholders.empty() ? fmt::format("'{}' stands for nothing here", placeholder)
                                       : fmt::format("'{}' stands for nothing; known is {}", placeholder,
                                                     fmt::join(placeholders, ", ")));
  }
  return path;
}

// The keys which `defaults:` may have too.
void ReadOverrides(YamlMap& map, CameraConfig& camera) {
  camera.model = map.Text("model", camera.model);
  const double threshold = map.Number("threshold", 0, 1, 0);
  if (map.Has("threshold")) camera.threshold = threshold;
  camera.interval = map.Integer("interval", 1, 10'000, camera.interval);
  camera.priority = map.Integer("priority", -100, 100, camera.priority);
  camera.weight = map.Number("weight", 0.02, 100, camera.weight);
  camera.deadline_ms = map.Integer("deadline-ms", 0, 60'000, camera.deadline_ms);
  camera.loop = map.Bool("loop", camera.loop);
  camera.realtime = map.Bool("realtime", camera.realtime);
  if (auto region = ReadRegion(map)) camera.region = region;
  camera.records = ReadOutputPath(map, "records", camera.records, RecordsPlaceholders());
}

constexpr const char* kSourceKeys[] = {"uri", "file", "dir"};

void ReadSource(YamlMap& map, const fs::path& folder, CameraConfig& camera) {
  for (const char* key : kSourceKeys) {
    const std::string written = map.Text(key);
    if (!map.Has(key)) continue;
    camera.location_as_written = written;
    const std::string location = ExpandedText(map, key);
    camera.kind = std::string_view(key) == "dir" ? SourceKind::kPictures : SourceKindOf(location);
    camera.location = camera.kind == SourceKind::kUri ? location : Under(folder, PathOfSource(location));
  }
}

void CheckSource(YamlMap& map, const CameraConfig& camera) {
  const auto given =
      std::count_if(std::begin(kSourceKeys), std::end(kSourceKeys), [&](const char* key) { return map.Has(key); });
  if (camera.kind == SourceKind::kUri) {
    if (const std::string mistake = MistakeOfUri(camera.location); !mistake.empty()) map.Fail("uri", mistake);
  }
  if (given == 0) map.Fail("uri", "is missing; a camera has one of 'uri', 'file' or 'dir'");
  if (given > 1) map.Fail("uri", "a camera has only one of 'uri', 'file' and 'dir'");
  if (camera.loop && camera.kind == SourceKind::kUri) map.Fail("loop", "is for files and folders");
  if (camera.realtime && camera.kind == SourceKind::kPictures)
    map.Fail("realtime", "is for videos; pictures have no pace");
}

// A camera's name becomes part of file names and records.
bool IsCameraName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80; });
}

// A key that is not known is reported before what its absence under the right name causes.
CameraConfig ReadCamera(YamlMap& map, const std::string& name, const CameraConfig& defaults,
                        const std::vector<ModelConfig>& models, const fs::path& folder) {
  CameraConfig camera = defaults;
  camera.name = name;
  ReadSource(map, folder, camera);
  ReadOverrides(map, camera);
  map.RefuseOtherKeys();
  CheckSource(map, camera);
  CheckModel(map, models, camera.model);
  return camera;
}

CameraConfig ReadDefaults(YamlMap& root, const std::vector<ModelConfig>& models) {
  CameraConfig defaults;
  if (models.size() == 1) defaults.model = models[0].name;
  YamlMap map = root.Map("defaults");
  ReadOverrides(map, defaults);
  map.RefuseOtherKeys();
  if (map.Has("model")) CheckModel(map, models, defaults.model);
  return defaults;
}

std::vector<CameraConfig> ReadCameras(YamlMap& root, const std::vector<ModelConfig>& models, const fs::path& folder) {
  const CameraConfig defaults = ReadDefaults(root, models);
  std::vector<CameraConfig> cameras;
  YamlMap map = root.Map("cameras");
  for (const std::string& name : map.Keys()) {
    if (!IsCameraName(name)) {
      map.Fail(name,
               "a camera's name is made of letters, digits, '_', '-' and '.', at most 64, and begins with no '.'");
    }
    YamlMap entry = map.Map(name);
    cameras.push_back(ReadCamera(entry, name, defaults, models, folder));
  }
  if (cameras.empty()) root.Fail("cameras", "names no camera");
  if (cameras.size() > kMostCameras) root.Fail("cameras", fmt::format("has more than {} cameras", kMostCameras));
  return cameras;
}

OutputConfig ReadOutputs(YamlMap& root) {
  OutputConfig outputs;
  YamlMap map = root.Map("outputs");
  outputs.records = ReadOutputPath(map, "records", "", RecordsPlaceholders());
  outputs.video = ReadOutputPath(map, "video", "", {});
  map.RefuseOtherKeys();
  return outputs;
}

serving::SchedulerOptions ReadScheduling(YamlMap& root) {
  constexpr int64_t kNsPerMs = 1'000'000;
  serving::SchedulerOptions scheduling;
  YamlMap map = root.Map("scheduling");
  using enum serving::SchedulingPolicy;
  scheduling.policy = map.Choice("policy", {"grouped", "fifo"}, 0) == 0 ? kGrouped : kFifo;
  const auto milliseconds = [&](std::string_view key, int64_t& ns) {
    ns = map.Integer(key, 0, 60'000, static_cast<int>(ns / kNsPerMs)) * kNsPerMs;
  };
  milliseconds("turn-ms", scheduling.turn_ns);
  milliseconds("longest-wait-ms", scheduling.longest_wait_ns);
  map.RefuseOtherKeys();
  return scheduling;
}

}  // namespace

Result<RunConfig> LoadRunConfig(const fs::path& path) {
  serving::YamlReader reader(path);
  YamlMap root = reader.Root();
  NPUSTREAM_RETURN_IF_ERROR(reader.status());
  std::error_code ignored;
  const fs::path folder =
      fs::is_regular_file(path, ignored) ? fs::absolute(path).parent_path() : fs::current_path(ignored);
  RunConfig config;
  config.threads = root.Integer("threads", 1, kMostThreads, 0);
  for (const char* section : {"scheduling", "models", "defaults", "cameras", "outputs"}) root.Map(section);
  root.RefuseOtherKeys();
  config.outputs = ReadOutputs(root);
  config.scheduling = ReadScheduling(root);
  config.models = ReadModels(root, folder);
  config.cameras = ReadCameras(root, config.models, folder);
  NPUSTREAM_RETURN_IF_ERROR(reader.status());
  config.file = path;
  if (Status status = CheckOutputs(config); !status.ok()) return status.WithContext(path.string());
  return config;
}

}  // namespace npustream::pipeline
