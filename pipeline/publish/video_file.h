#pragma once

#include <memory>
#include <string>

#include <opencv2/core.hpp>

#include "base/file.h"
#include "base/mutex.h"
#include "base/status.h"
#include "pipeline/camera/gst_handles.h"

namespace npustream::pipeline {

// An MP4 file that BGR pictures of one size are encoded into, with the first of x264enc, openh264enc and avenc_mpeg4
// that is installed. For one thread at a time. Without Finish nothing is left behind. Nothing waits for an encoder that
// has failed.
class VideoFile {
 public:
  // `width` and `height` are even; `path` is what messages call the file. kNotFound names the Debian package when there
  // is no encoder.
  static Result<std::unique_ptr<VideoFile>> Create(NewFile file, const std::string& path, int width, int height,
                                                   int frames_per_second);
  ~VideoFile();

  // Copies the picture; blocks while the encoder is behind.
  Status Write(const cv::Mat& bgr);
  // Ends the file and moves it to its place.
  Status Finish();

 private:
  static constexpr uint64_t kAhead = 4;  // pictures that wait for the encoder

  VideoFile(NewFile file, std::string path, int frames_per_second)
      : file_(std::move(file)), path_(std::move(path)), frames_per_second_(frames_per_second) {}
  Status Open(int width, int height);
  Status Failure() const NPUSTREAM_EXCLUDES(mutex_);
  void TakeNote(GstMessage* message) NPUSTREAM_EXCLUDES(mutex_);
  void Stop();

  NewFile file_;
  const std::string path_;
  const int frames_per_second_;
  UniqueElement pipeline_;
  UniqueElement source_;
  uint64_t frames_ = 0;

  mutable Mutex mutex_;  // for what the encoder's threads tell
  CondVar changed_;
  uint64_t taken_ NPUSTREAM_GUARDED_BY(mutex_) = 0;  // pictures that have gone to the encoder
  bool ended_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  Status failure_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace npustream::pipeline
