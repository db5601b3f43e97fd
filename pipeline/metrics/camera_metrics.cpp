#include "pipeline/metrics/camera_metrics.h"

namespace npustream::pipeline {

uint64_t CameraFigures::TotalDropped() const {
  uint64_t total = 0;
  for (const auto& [reason, count] : dropped) total += count;
  return total;
}

double CameraFigures::Fps() const {
  if (last_ns <= first_ns) return 0;
  return static_cast<double>(frames_in) * 1e9 / static_cast<double>(last_ns - first_ns);
}

void CameraMetrics::Touch(int64_t now_ns) {
  if (figures_.first_ns < 0) figures_.first_ns = now_ns;
  figures_.last_ns = now_ns;
}

void CameraMetrics::OnFrameIn(int64_t now_ns) {
  MutexLock lock(mutex_);
  Touch(now_ns);
  ++figures_.frames_in;
}

void CameraMetrics::OnRecord(int64_t latency_ns, int64_t now_ns) {
  MutexLock lock(mutex_);
  Touch(now_ns);
  ++figures_.records_out;
  ++figures_.inferred;
  if (latency_ns >= 0) latency_.Add(latency_ns);
}

void CameraMetrics::OnDropped(const std::string& reason, uint64_t frames, int64_t now_ns) {
  if (frames == 0) return;
  MutexLock lock(mutex_);
  Touch(now_ns);
  figures_.dropped[reason] += frames;
}

CameraFigures CameraMetrics::Snapshot() const {
  MutexLock lock(mutex_);
  CameraFigures figures = figures_;
  figures.latency_p50_ns = latency_.QuantileNs(0.50);
  figures.latency_p99_ns = latency_.QuantileNs(0.99);
  return figures;
}

}  // namespace npustream::pipeline
