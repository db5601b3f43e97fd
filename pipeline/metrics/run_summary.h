#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/metrics/camera_metrics.h"

namespace npustream::pipeline {

struct ModelFigures {
  uint64_t batches = 0;
  uint64_t images = 0;
  int64_t queue_wait_p50_ns = 0, queue_wait_p99_ns = 0;
  double MeanBatch() const { return batches == 0 ? 0 : static_cast<double>(images) / static_cast<double>(batches); }
};

struct CopiedBytes {
  uint64_t host_to_device = 0, device_to_host = 0, device_to_device = 0;
};

struct CameraOutcome {
  std::string name;
  CameraFigures figures;
  std::string failure;  // a sentence; empty when the camera came to its end as it should
};

// What a run did, as a whole.
struct RunSummary {
  std::vector<CameraOutcome> cameras;          // in the configuration's order
  std::map<std::string, ModelFigures> models;  // by name
  CopiedBytes copied;
  double cpu_s = 0;  // of the whole process
  double wall_s = 0;

  bool AnyFailed() const;
  uint64_t FramesIn() const;
};

// The summary in one line, as docs/configuration.md describes it for --summary-json.
std::string SummaryJson(const RunSummary& summary);
// Tables for people: cameras, models, bytes copied.
std::string SummaryTables(const RunSummary& summary);

}  // namespace npustream::pipeline
