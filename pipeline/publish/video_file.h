#pragma once

#include <memory>
#include <string>

#include <opencv2/core.hpp>

#include "base/status.h"
#include "pipeline/camera/gst_handles.h"

namespace npustream::pipeline {

// An MP4 file that BGR pictures of one size are encoded into, with the first of x264enc, openh264enc and avenc_mpeg4
// that is installed. For one thread at a time. Without Finish nothing is left behind.
class VideoFile {
 public:
  // `width` and `height` are even. kNotFound names the Debian package when there is no encoder.
  static Result<std::unique_ptr<VideoFile>> Create(const std::string& path, int width, int height,
                                                   int frames_per_second);
  ~VideoFile();

  // Copies the picture; blocks while the encoder is behind.
  Status Write(const cv::Mat& bgr);
  // Ends the file and moves it to its place.
  Status Finish();

 private:
  VideoFile(std::string path, std::string written, int frames_per_second)
      : path_(std::move(path)), written_(std::move(written)), frames_per_second_(frames_per_second) {}
  Status Open(int width, int height);
  Status FirstError() const;

  const std::string path_;
  const std::string written_;
  const int frames_per_second_;
  UniqueElement pipeline_;
  UniqueElement source_;
  uint64_t frames_ = 0;
};

}  // namespace npustream::pipeline
