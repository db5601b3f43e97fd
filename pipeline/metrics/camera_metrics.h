#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.h"
#include "pipeline/metrics/latency_histogram.h"

namespace npustream::pipeline {

// What became of a camera's frames.
struct CameraFigures {
  uint64_t frames_in = 0;  // frames that came to the decoder, or pictures that were to be read
  uint64_t inferred = 0;   // frames that a model looked at
  uint64_t records_out = 0;
  std::map<std::string, uint64_t> dropped;         // by reason
  int64_t first_ns = -1, last_ns = -1;             // Clock::NowNs of the first and the last thing that happened
  int64_t latency_p50_ns = 0, latency_p99_ns = 0;  // from the decoder's input to the record

  uint64_t TotalDropped() const;
  // Frames per second between the first and the last event; 0 when there was no time.
  double Fps() const;
};

// Counts a camera's frames; each frame that came in becomes one record or one drop. Thread-safe.
class CameraMetrics {
 public:
  void OnFrameIn(int64_t now_ns);
  // Of a frame that a model looked at. `latency_ns` below 0: unknown.
  void OnRecord(int64_t latency_ns, int64_t now_ns);
  void OnDropped(const std::string& reason, uint64_t frames, int64_t now_ns);
  CameraFigures Snapshot() const;

 private:
  void Touch(int64_t now_ns) NPUSTREAM_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CameraFigures figures_ NPUSTREAM_GUARDED_BY(mutex_);
  LatencyHistogram latency_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace npustream::pipeline
