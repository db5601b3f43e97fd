#include "pipeline/graph/launch_line.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "pipeline/config/picture_type.h"
#include "pipeline/config/records_path.h"
#include "pipeline/config/source_kind.h"

namespace npustream::pipeline {
namespace {

bool IsPlain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalnum(c) || c >= 0x80 ||
           std::string_view("_-./:,=@%+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// GStreamer's string syntax: double quotes, with backslashes before quotes and backslashes.
std::string QuoteForParser(std::string_view value) {
  if (IsPlain(value)) return std::string(value);
  std::string quoted = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// One word of the shell. gst-launch-1.0 quotes each argument for the parser itself.
std::string QuoteForShell(std::string_view word) {
  if (word.find("${") != std::string_view::npos) {
    std::string quoted = "\"";
    for (size_t i = 0; i < word.size(); ++i) {
      const bool dollar = word[i] == '$' && !word.substr(i).starts_with("${");
      if (dollar || word[i] == '"' || word[i] == '\\' || word[i] == '`') quoted += '\\';
      quoted += word[i];
    }
    return quoted + '"';
  }
  if (IsPlain(word)) return std::string(word);
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + '\'';
}

std::string NumberText(double value) { return fmt::format("{:.6g}", value); }

void AddSource(LaunchLine& line, const CameraConfig& camera, bool for_user) {
  if (camera.kind == SourceKind::kPictures) {
    if (!for_user) {
      line.Add(
          {"appsrc",
           {{"name", "pictures"}, {"format", "time"}, {"block", "true"}, {"max-buffers", "16"}, {"max-bytes", "0"}}});
      return;
    }
    std::error_code ignored;
    const bool single = std::filesystem::is_regular_file(camera.location, ignored);
    line.Add({"splitfilesrc", {{"location", single ? camera.location : camera.location + "/*.jpg"}}});
    line.Add({"jpegparse", {}});
    return;
  }
  if (camera.kind == SourceKind::kFile) {
    line.Add({"filesrc", {{"location", camera.location}}});
  } else {
    const std::string& uri = for_user ? camera.location_as_written : camera.location;
    if (camera.rtsp()) {
      line.Add({"rtspsrc", {{"location", uri}, {"protocols", "tcp"}, {"latency", "200"}}});
      line.Add({"application/x-rtp,media=video", {}});
    } else {
      line.Add({"urisourcebin", {{"uri", uri}}});
    }
  }
  // parsebin would take pieces of such a file for pictures.
  const bool motion_jpeg = camera.kind == SourceKind::kFile && IsMotionJpegFile(camera.location);
  line.Add({motion_jpeg ? "jpegparse" : "parsebin", {{"name", "parser"}}});
  if (camera.realtime && !camera.rtsp()) line.Add({"identity", {{"name", "pace"}, {"sync", "true"}}});
}

void AddDecoder(LaunchLine& line, const CameraConfig& camera, const ModelConfig& model) {
  LaunchLine::Element decoder{"npuvdec", {{"name", "decoder"}, {"camera-id", camera.name}}};
  if (model.device != 0) decoder.properties.emplace_back("device-id", std::to_string(model.device));
  line.Add(std::move(decoder));
}

// npudetect, or npupreprocess, its first part, which has the same properties but those that concern results.
void AddDetector(LaunchLine& line, const CameraConfig& camera, const ModelConfig& model, bool detects) {
  LaunchLine::Element detector{detects ? "npudetect" : "npupreprocess",
                               {{"name", "detector"}, {"model", model.request.model}}};
  auto& properties = detector.properties;
  if (!model.request.decoder.empty()) properties.emplace_back("decoder", model.request.decoder);
  if (!model.request.labels_file.empty()) properties.emplace_back("labels-file", model.request.labels_file.string());
  if (model.request.picture_format == serving::PictureFormat::kRgb888) properties.emplace_back("picture-format", "rgb");
  if (model.request.precision != "fp32") properties.emplace_back("precision", model.request.precision);
  if (model.device != 0) properties.emplace_back("device-id", std::to_string(model.device));
  properties.emplace_back("batch-size", std::to_string(model.batch_size));
  if (model.batch_timeout_ms > 0) properties.emplace_back("batch-timeout-ms", std::to_string(model.batch_timeout_ms));
  properties.emplace_back("queue-size", std::to_string(model.queue_size));
  if (model.queue_policy != serving::QueuePolicy::kBlock) {
    properties.emplace_back("queue-policy", serving::kQueuePolicyNames[static_cast<size_t>(model.queue_policy)]);
  }
  if (camera.priority != 0 && detects) properties.emplace_back("priority", std::to_string(camera.priority));
  if (camera.weight != 1 && detects) properties.emplace_back("weight", NumberText(camera.weight));
  if (camera.deadline_ms > 0 && detects) properties.emplace_back("deadline-ms", std::to_string(camera.deadline_ms));
  if (camera.threshold && detects) properties.emplace_back("threshold", NumberText(*camera.threshold));
  if (camera.interval > 1) properties.emplace_back("inference-interval", std::to_string(camera.interval));
  if (camera.region) {
    properties.emplace_back("inference-region",
                            fmt::format("{},{},{},{}", NumberText(camera.region->x), NumberText(camera.region->y),
                                        NumberText(camera.region->w), NumberText(camera.region->h)));
  }
  if (camera.live() && detects) properties.emplace_back("when-full", "pass");
  line.Add(std::move(detector));
}

}  // namespace

std::string LaunchLine::ForParser() const {
  std::string text;
  for (const Element& element : elements_) {
    if (!text.empty()) text += " ! ";
    text += element.factory;
    for (const auto& [name, value] : element.properties) text += fmt::format(" {}={}", name, QuoteForParser(value));
  }
  return text;
}

std::string LaunchLine::ForShell() const {
  std::string text = "gst-launch-1.0";
  for (size_t i = 0; i < elements_.size(); ++i) {
    text += i == 0 ? " " : " ! ";
    text += QuoteForShell(elements_[i].factory);
    for (const auto& [name, value] : elements_[i].properties)
      text += " " + QuoteForShell(fmt::format("{}={}", name, value));
  }
  return text;
}

std::string CameraScript(const RunConfig& config, const CameraConfig& camera) {
  const std::string records = SeparateRecordsPath(config, camera);
  std::string script = fmt::format("# {}\n", camera.name);
  if (records != RecordsPath(config, camera)) script += "# records: a process of its own writes a file of its own\n";
  if (camera.loop) script += "# loop: a launch line ends where its source does\n";
  if (!config.outputs.video.empty()) script += "# video: a launch line has one camera and draws no grid\n";
  if (camera.kind == SourceKind::kPictures)
    script += "# pictures: a launch line reads the JPEG files of a folder alone\n";
  const std::string folder = std::filesystem::path(records).parent_path();
  if (!folder.empty()) script += fmt::format("mkdir -p {}\n", QuoteForShell(folder));
  if (config.threads > 0) script += fmt::format("NPUSTREAM_THREADS={} ", config.threads);
  return script + DescribeCamera(camera, config.ModelOf(camera), records, PipelineEnd::kMetaSink).ForShell() + "\n";
}

LaunchLine DescribeCamera(const CameraConfig& camera, const ModelConfig& model, const std::string& records,
                          PipelineEnd end) {
  LaunchLine line;
  AddSource(line, camera, end == PipelineEnd::kMetaSink);
  AddDecoder(line, camera, model);
  AddDetector(line, camera, model, end != PipelineEnd::kModelInput);
  if (end == PipelineEnd::kMetaSink) {
    LaunchLine::Element sink{"npumetasink", {}};
    if (!records.empty()) sink.properties.emplace_back("location", records);
    line.Add(std::move(sink));
    return line;
  }
  if (end == PipelineEnd::kDownload) line.Add({"npudownload", {}});
  line.Add(
      {"appsink", {{"name", "records"}, {"sync", "false"}, {"max-buffers", "4"}, {"enable-last-sample", "false"}}});
  return line;
}

}  // namespace npustream::pipeline
