#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "pipeline/config/run_config.h"
#include "pipeline/metrics/run_summary.h"

namespace npustream::pipeline {

struct Progress {
  uint64_t frames = 0;  // that came in so far, of all cameras
  double seconds = 0;   // since the cameras started
  size_t cameras_running = 0;
};

struct RunOptions {
  double duration_s = 0;                               // cameras are asked to stop then; 0: they run to their ends
  const std::atomic<bool>* stop = nullptr;             // likewise when it becomes true; may be null
  bool records_on_commit = false;                      // record files appear complete at the end, or not at all
  std::function<void(const Progress&)> on_progress;    // about twice a second; may be empty
  std::function<void(const std::string&)> on_notice;   // what takes long, such as compiling a model; may be empty
  std::function<void(const std::string&)> on_failure;  // a sentence as soon as a camera fails; may be empty
};

// Runs all cameras to their ends. A camera that fails is noted in the summary and leaves the others alone; a Status is
// given back only when nothing could be run or written at all. Blocks; one call at a time in a process.
Result<RunSummary> RunCameras(const RunConfig& config, const RunOptions& options);

// What is wrong with a model's name, description, decoder or labels, without reading or compiling the model.
Status CheckModelRequest(const serving::ModelRequest& request);

// Initialises GStreamer and lets it find the plugin beside the program. Any number of times.
Status InitializeGStreamer();

}  // namespace npustream::pipeline
