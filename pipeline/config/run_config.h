#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "runtime/serving/model_runner.h"
#include "runtime/serving/model_store.h"

namespace npustream::pipeline {

// A model of the `models:` map and how it is batched; one runner in the process whatever the number of its cameras.
struct ModelConfig {
  std::string name;
  serving::ModelRequest request;
  int batch_size = 8;
  int batch_timeout_ms = 0;  // 0: work-conserving
  int queue_size = 64;       // requests
  serving::QueuePolicy queue_policy = serving::QueuePolicy::kBlock;
  double weight = 1;  // stretches its turns on a device that it shares
  int device = 0;
};

// A part of the frame in fractions of its width and height.
struct Region {
  double x = 0, y = 0, w = 1, h = 1;
};

enum class SourceKind {
  kFile,      // a video file, `location` is its path
  kPictures,  // a folder of pictures or a single one, `location` is its path
  kUri,       // anything else GStreamer can open, `location` is the URI
};

struct CameraConfig {
  std::string name;
  SourceKind kind = SourceKind::kFile;
  std::string location;
  std::string location_as_written;  // before ${…} was replaced: may be shown, as it holds no secrets
  std::string model;                // a name of RunConfig::models
  std::optional<double> threshold;  // instead of the model's
  int interval = 1;                 // every how many-th frame goes through the model
  int priority = 0;                 // of a higher one: first at the model
  double weight = 1;                // share of the model among cameras of one priority
  int deadline_ms = 0;              // longest wait for the model; 0: none
  bool loop = false;                // begin again at the end of the file
  bool realtime = false;            // play a file at its own pace and drop what comes too fast, as a camera would
  std::optional<Region> region;     // only this part goes through the model
  std::string records;              // a records file of its own; empty: that of the outputs

  // rtsp:// and its kin (rtsps, rtspt, …).
  bool rtsp() const {
    return kind == SourceKind::kUri && (location.starts_with("rtsp") || location.starts_with("RTSP"));
  }
  // Files and pictures are read as fast as they can be worked on, and nothing is dropped.
  bool live() const { return realtime || rtsp(); }
};

struct OutputConfig {
  std::string records;  // JSON lines; "-": stdout, empty: none; "{camera}" stands for the camera's name
  std::string video;    // annotated MP4 of all cameras in a grid; empty: none
  std::string summary;  // figures as JSON, which the caller writes after the run; empty: none
};

struct RunConfig {
  std::string file;  // where it was read from; empty when it was made otherwise
  std::vector<ModelConfig> models;
  std::vector<CameraConfig> cameras;  // in the file's order, at least one
  OutputConfig outputs;
  serving::SchedulerOptions scheduling;  // of models that share a device
  int threads = 0;  // thread budget of the process; 0: as the environment says

  // The model that the camera names, which must be one of `models`.
  const ModelConfig& ModelOf(const CameraConfig& camera) const {
    return *std::find_if(models.begin(), models.end(),
                         [&](const ModelConfig& model) { return model.name == camera.model; });
  }
};

}  // namespace npustream::pipeline
