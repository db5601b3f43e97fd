#include "elements/sink/record_writer.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace npustream::elements {
namespace {

using Json = nlohmann::ordered_json;

// The nearest double to `value` with so many decimals: printed with the fewest digits, the same on every run.
double Rounded(double value, double steps_per_unit) {
  const double rounded = std::round(value * steps_per_unit) / steps_per_unit;
  return rounded == 0 ? 0 : rounded;  // no "-0.0"
}
double Pixels(double value) { return Rounded(value, 100); }
double Fraction(double value) { return Rounded(value, 1e6); }

Json ObjectJson(const DetectedObject& object, double frame_width, double frame_height) {
  const Detection& detection = object.detection;
  const Box& box = detection.box;
  const double confidence = Fraction(detection.confidence);
  Json json;
  json["label"] = object.label;
  json["label_id"] = detection.label_id;
  json["confidence"] = confidence;
  json["x"] = Pixels(box.x_min);
  json["y"] = Pixels(box.y_min);
  json["w"] = Pixels(static_cast<double>(box.x_max) - box.x_min);
  json["h"] = Pixels(static_cast<double>(box.y_max) - box.y_min);
  json["detection"] = {{"bounding_box",
                        {{"x_min", Fraction(box.x_min / frame_width)},
                         {"y_min", Fraction(box.y_min / frame_height)},
                         {"x_max", Fraction(box.x_max / frame_width)},
                         {"y_max", Fraction(box.y_max / frame_height)}}},
                       {"confidence", confidence},
                       {"label", object.label},
                       {"label_id", detection.label_id}};
  if (!detection.landmarks.empty()) {
    Json points = Json::array();
    for (const Landmark& point : detection.landmarks)
      points.push_back({{"x", Pixels(point.x)}, {"y", Pixels(point.y)}});
    json["landmarks"] = std::move(points);
  }
  if (object.track_id >= 0) json["id"] = object.track_id;
  return json;
}

}  // namespace

std::string FormatUtc(int64_t utc_ns) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  int64_t seconds = utc_ns / kNsPerSecond;
  int64_t rest_ns = utc_ns % kNsPerSecond;
  if (rest_ns < 0) {
    rest_ns += kNsPerSecond;
    --seconds;
  }
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, rest_ns / 1'000'000);
}

std::string FormatRecord(const FrameInfo& frame, int64_t pts_ns, const DetectionResult& result) {
  Json json;
  json["schema_version"] = 1;
  json["camera_id"] = frame.camera_id;
  json["frame_id"] = frame.frame_id;
  json["pts_ns"] = pts_ns >= 0 ? Json(pts_ns) : Json(nullptr);
  if (frame.capture_time_ns >= 0) json["capture_time"] = FormatUtc(frame.capture_time_ns);
  if (!frame.source.empty()) json["source"] = frame.source;
  json["resolution"] = {{"width", result.frame_width}, {"height", result.frame_height}};
  if (!result.profile.empty()) json["profile"] = result.profile;
  json["model"] = {{"name", result.model_name}, {"version", result.model_version}};
  json["objects"] = Json::array();
  for (const DetectedObject& object : result.objects) {
    json["objects"].push_back(ObjectJson(object, result.frame_width, result.frame_height));
  }
  // A name or label with bytes that are not UTF-8 must not cost the record.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::Open(const std::string& location) {
  if (location.empty()) return Status(StatusCode::kInvalidArgument, "no location for records");
  if (location == "-")
    return std::unique_ptr<RecordWriter>(new RecordWriter(location, stdout, false));  // private constructor
  FILE* file = std::fopen(location.c_str(), "we");
  if (file == nullptr) {
    return Status(StatusCode::kIoError, fmt::format("{}: cannot be written: {}", location, std::strerror(errno)));
  }
  return std::unique_ptr<RecordWriter>(new RecordWriter(location, file, true));  // private constructor
}

RecordWriter::~RecordWriter() {
  if (owned_) {
    std::fclose(file_);
  } else {
    std::fflush(file_);
  }
}

Status RecordWriter::Failure(std::string_view what) const {
  return Status(StatusCode::kIoError, fmt::format("{}: {}: {}", location_, what, std::strerror(errno)));
}

Status RecordWriter::WriteLine(std::string_view record) {
  if (std::fwrite(record.data(), 1, record.size(), file_) != record.size() || std::fputc('\n', file_) == EOF) {
    return Failure("writing a record");
  }
  return Status();
}

Status RecordWriter::Flush() { return std::fflush(file_) == 0 ? Status() : Failure("writing records"); }

}  // namespace npustream::elements
