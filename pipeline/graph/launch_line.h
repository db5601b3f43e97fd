#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/config/run_config.h"

namespace npustream::pipeline {

// A chain of GStreamer elements as text, for gst_parse_launch and for a shell.
class LaunchLine {
 public:
  struct Element {
    std::string factory;  // or caps, for a filter
    std::vector<std::pair<std::string, std::string>> properties;
  };

  void Add(Element element) { elements_.push_back(std::move(element)); }
  const std::vector<Element>& elements() const { return elements_; }

  // What gst_parse_launch takes.
  std::string ForParser() const;
  // "gst-launch-1.0 …" for a POSIX shell. Values with ${NAME} stand in double quotes, so that the shell fills them in.
  std::string ForShell() const;

 private:
  std::vector<Element> elements_;
};

// How a camera's frames leave its pipeline.
enum class PipelineEnd {
  kMetaSink,  // npumetasink writes records itself: what a user would type
  kAppSink,   // an appsink "records" of this process takes frames with their detections
  kDownload,  // likewise, after the picture has been copied to the host
  kModelInput,  // an appsink "records" takes frames with the pictures that the model would be given
};

// A camera's pipeline: source, parser, npuvdec "decoder", npudetect "detector", end. Pictures come from an appsrc
// "pictures" unless the end is kMetaSink: then from the JPEG files of the folder.
LaunchLine DescribeCamera(const CameraConfig& camera, const ModelConfig& model, const std::string& records,
                          PipelineEnd end);

// What a shell runs for this camera alone: its name and what a launch line cannot express as comments, the folder of
// its records, the launch line.
std::string CameraScript(const RunConfig& config, const CameraConfig& camera);

}  // namespace npustream::pipeline
