#pragma once

#include <memory>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

#include "base/file.h"
#include "base/mutex.h"
#include "base/status.h"
#include "elements/meta/detection_result.h"
#include "pipeline/publish/annotate.h"
#include "pipeline/publish/video_file.h"

namespace npustream::pipeline {

// The annotated pictures of all cameras side by side in one video: picture n of the video shows picture n of every
// camera. A camera that is ahead waits for the others. Of one that has ended the last picture stays, and of a live one that
// another is kAhead pictures ahead of. Thread-safe.
class AnnotatedGrid {
 public:
  struct Tile {
    std::string title;
    bool live = false;
  };

  // Sees to it that the file can be written. As NewFile.
  static Result<std::unique_ptr<AnnotatedGrid>> Create(const std::string& path, std::vector<Tile> cameras);

  // Draws the next picture of camera `index`. Blocks while that camera has kAhead pictures waiting. A failure of the
  // video is given back once by Finish, not here. The video's frame rate is that of the picture that comes first.
  void Add(size_t index, const HostPicture& picture, const std::vector<elements::DetectedObject>& objects);
  // Camera `index` has no more pictures.
  void End(size_t index);
  // Wakes who is blocked; what comes after is ignored.
  void Abort();
  // After all have ended: completes the file. Gives the first failure of the video.
  Status Finish();

 private:
  static constexpr size_t kAhead = 8;

  struct Lane {
    Tile tile;
    std::vector<cv::Mat> waiting;
    cv::Mat last;
    bool ended = false;
  };

  AnnotatedGrid(NewFile target, std::string path, std::vector<Tile> cameras);
  void WriteWhatIsComplete() NPUSTREAM_REQUIRES(mutex_);
  bool AnyWaiting() const NPUSTREAM_REQUIRES(mutex_);
  bool AnyFull() const NPUSTREAM_REQUIRES(mutex_);
  void Compose() NPUSTREAM_REQUIRES(mutex_);
  void ChooseSizes(const HostPicture& picture) NPUSTREAM_REQUIRES(mutex_);

  const std::string path_;
  mutable Mutex mutex_;
  CondVar moved_;
  std::vector<Lane> lanes_ NPUSTREAM_GUARDED_BY(mutex_);
  cv::Size tile_size_ NPUSTREAM_GUARDED_BY(mutex_);
  int frames_per_second_ NPUSTREAM_GUARDED_BY(mutex_) = 25;
  int columns_ = 1;
  NewFile target_ NPUSTREAM_GUARDED_BY(mutex_);  // until file_ has it
  std::unique_ptr<VideoFile> file_ NPUSTREAM_GUARDED_BY(mutex_);
  Status status_ NPUSTREAM_GUARDED_BY(mutex_);
  bool aborted_ NPUSTREAM_GUARDED_BY(mutex_) = false;
};

}  // namespace npustream::pipeline
