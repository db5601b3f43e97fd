#include "pipeline/metrics/run_summary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace npustream::pipeline {
namespace {

using Json = nlohmann::ordered_json;

double Rounded(double value) { return std::round(value * 1000) / 1000; }
double Milliseconds(int64_t nanoseconds) { return Rounded(static_cast<double>(nanoseconds) / 1e6); }

Json Quantiles(int64_t p50_ns, int64_t p99_ns) {
  return {{"p50", Milliseconds(p50_ns)}, {"p99", Milliseconds(p99_ns)}};
}

Json CameraJson(const CameraOutcome& camera) {
  Json json{{"frames_in", camera.figures.frames_in},
            {"inferred", camera.figures.inferred},
            {"records_out", camera.figures.records_out},
            {"dropped", Json::object()},
            {"fps", Rounded(camera.figures.Fps())},
            {"latency_ms", Quantiles(camera.figures.latency_p50_ns, camera.figures.latency_p99_ns)}};
  for (const auto& [reason, count] : camera.figures.dropped) json["dropped"][reason] = count;
  if (!camera.failure.empty()) json["error"] = camera.failure;
  return json;
}

double CpuMsPerFrame(const RunSummary& summary) {
  const uint64_t frames = summary.FramesIn();
  return frames == 0 ? 0 : Rounded(summary.cpu_s * 1000 / static_cast<double>(frames));
}

// Rows of cells, the first row is the head: the first column to the left, the others to the right.
std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string Drops(const CameraFigures& figures) {
  std::string text;
  for (const auto& [reason, count] : figures.dropped)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, count);
  return text.empty() ? "0" : text;
}

std::string TwoTimes(int64_t p50_ns, int64_t p99_ns) {
  return fmt::format("{:.1f} / {:.1f}", static_cast<double>(p50_ns) / 1e6, static_cast<double>(p99_ns) / 1e6);
}

}  // namespace

bool RunSummary::AnyFailed() const {
  return std::any_of(cameras.begin(), cameras.end(),
                     [](const CameraOutcome& camera) { return !camera.failure.empty(); });
}

uint64_t RunSummary::FramesIn() const {
  uint64_t frames = 0;
  for (const CameraOutcome& camera : cameras) frames += camera.figures.frames_in;
  return frames;
}

std::string SummaryJson(const RunSummary& summary) {
  Json json{{"cameras", Json::object()}, {"models", Json::object()}};
  for (const CameraOutcome& camera : summary.cameras) json["cameras"][camera.name] = CameraJson(camera);
  for (const auto& [name, model] : summary.models) {
    json["models"][name] = {{"batches", model.batches},
                            {"mean_batch", Rounded(model.MeanBatch())},
                            {"queue_wait_ms", Quantiles(model.queue_wait_p50_ns, model.queue_wait_p99_ns)}};
  }
  json["bytes_copied"] = {{"h2d", summary.copied.host_to_device},
                          {"d2h", summary.copied.device_to_host},
                          {"d2d", summary.copied.device_to_device}};
  json["cpu_ms_per_frame"] = CpuMsPerFrame(summary);
  json["wall_s"] = Rounded(summary.wall_s);
  // Names may hold bytes that are not UTF-8; they are replaced rather than thrown at us.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string SummaryTables(const RunSummary& summary) {
  std::vector<std::vector<std::string>> cameras{
      {"camera", "frames in", "inferred", "records", "dropped", "fps", "latency ms p50 / p99"}};
  for (const CameraOutcome& camera : summary.cameras) {
    const CameraFigures& figures = camera.figures;
    cameras.push_back({camera.name, std::to_string(figures.frames_in), std::to_string(figures.inferred),
                       std::to_string(figures.records_out), Drops(figures), fmt::format("{:.1f}", figures.Fps()),
                       TwoTimes(figures.latency_p50_ns, figures.latency_p99_ns)});
  }
  std::vector<std::vector<std::string>> models{{"model", "batches", "mean batch", "queue wait ms p50 / p99"}};
  for (const auto& [name, model] : summary.models) {
    models.push_back({name, std::to_string(model.batches), fmt::format("{:.2f}", model.MeanBatch()),
                      TwoTimes(model.queue_wait_p50_ns, model.queue_wait_p99_ns)});
  }
  const std::vector<std::vector<std::string>> copies{
      {"bytes copied", "host to device", "device to host", "device to device"},
      {"", std::to_string(summary.copied.host_to_device), std::to_string(summary.copied.device_to_host),
       std::to_string(summary.copied.device_to_device)}};
  const double fps = summary.wall_s > 0 ? static_cast<double>(summary.FramesIn()) / summary.wall_s : 0;
  return fmt::format("{}\n{}\n{}\n{} frames in {:.1f} s: {:.1f} fps, {:.2f} ms of CPU time a frame\n", Table(cameras),
                     Table(models), Table(copies), summary.FramesIn(), summary.wall_s, fps, CpuMsPerFrame(summary));
}

}  // namespace npustream::pipeline
