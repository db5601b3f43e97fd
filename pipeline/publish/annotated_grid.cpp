#include "pipeline/publish/annotated_grid.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace npustream::pipeline {
namespace {

constexpr int kWidestGrid = 1280;  // pixels; a single camera is shown in its own size up to this

}  // namespace

Result<std::unique_ptr<AnnotatedGrid>> AnnotatedGrid::Create(const std::string& path, std::vector<Tile> cameras) {
  NPUSTREAM_ASSIGN_OR_RETURN(NewFile target, NewFile::Create(path));
  return std::unique_ptr<AnnotatedGrid>(new AnnotatedGrid(std::move(target), path, std::move(cameras)));
}

AnnotatedGrid::AnnotatedGrid(NewFile target, std::string path, std::vector<Tile> cameras)
    : path_(std::move(path)), target_(std::move(target)) {
  for (Tile& tile : cameras) lanes_.push_back({std::move(tile), {}, {}, false});
  columns_ = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(lanes_.size()))));
}

// Tiles have the shape of the first picture that comes.
void AnnotatedGrid::ChooseSizes(const HostPicture& picture) {
  if (tile_size_.width > 0) return;
  if (picture.frames_per_second > 0) frames_per_second_ = std::clamp(cvRound(picture.frames_per_second), 1, 60);
  const int width = std::clamp(std::min(picture.width, kWidestGrid / columns_) & ~1, 32, kWidestGrid);
  tile_size_ = {width,
                std::max(32, static_cast<int>(static_cast<double>(width) * picture.height / picture.width) & ~1)};
}

void AnnotatedGrid::Add(size_t index, const HostPicture& picture,
                        const std::vector<elements::DetectedObject>& objects) {
  cv::Size size;
  std::string title;
  {
    MutexLock lock(mutex_);
    Lane& lane = lanes_[index];
    ChooseSizes(picture);
    while (!aborted_ && status_.ok() && !lane.tile.live && lane.waiting.size() >= kAhead) moved_.Wait(lock);
    if (aborted_ || !status_.ok()) return;
    size = tile_size_;
    title = lane.tile.title;
  }
  // A camera's pictures come from one thread, so drawing needs no lock and keeps their order.
  cv::Mat tile(size, CV_8UC3);
  DrawTile(picture, objects, title, tile);
  MutexLock lock(mutex_);
  Lane& lane = lanes_[index];
  if (lane.waiting.size() >= kAhead) lane.waiting.erase(lane.waiting.begin());
  lane.waiting.push_back(std::move(tile));
  WriteWhatIsComplete();
}

void AnnotatedGrid::End(size_t index) {
  MutexLock lock(mutex_);
  lanes_[index].ended = true;
  WriteWhatIsComplete();
  moved_.NotifyAll();
}

void AnnotatedGrid::Abort() {
  MutexLock lock(mutex_);
  aborted_ = true;
  moved_.NotifyAll();
}

bool AnnotatedGrid::AnyWaiting() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !lane.waiting.empty(); });
}

bool AnnotatedGrid::AnyFull() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.waiting.size() >= kAhead; });
}

void AnnotatedGrid::WriteWhatIsComplete() {
  // A live camera may fall silent: who is far ahead of it goes on.
  const auto ready = [this](const Lane& lane) NPUSTREAM_REQUIRES(mutex_) {
    return lane.ended || !lane.waiting.empty() || (lane.tile.live && AnyFull());
  };
  while (status_.ok() && AnyWaiting() && std::all_of(lanes_.begin(), lanes_.end(), ready)) Compose();
  moved_.NotifyAll();
}

void AnnotatedGrid::Compose() {
  const int rows = (static_cast<int>(lanes_.size()) + columns_ - 1) / columns_;
  cv::Mat canvas(tile_size_.height * rows, tile_size_.width * columns_, CV_8UC3, cv::Scalar::all(0));
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (!lane.waiting.empty()) {
      lane.last = std::move(lane.waiting.front());
      lane.waiting.erase(lane.waiting.begin());
    }
    if (lane.last.empty()) continue;
    const int column = static_cast<int>(i) % columns_, row = static_cast<int>(i) / columns_;
    lane.last.copyTo(canvas(cv::Rect({column * tile_size_.width, row * tile_size_.height}, tile_size_)));
  }
  if (file_ == nullptr) {
    auto file = VideoFile::Create(std::move(target_), path_, canvas.cols, canvas.rows, frames_per_second_);
    status_ = file.status();
    if (!file.ok()) return;
    file_ = std::move(file).value();
  }
  // Waits while the encoder is behind, with the lock held: that is what holds the cameras back.
  status_ = file_->Write(canvas);
}

Status AnnotatedGrid::Finish() {
  MutexLock lock(mutex_);
  if (status_.ok() && file_ == nullptr) {
    return Status(StatusCode::kFailedPrecondition, fmt::format("{} was not written: there was no picture", path_));
  }
  if (status_.ok()) status_ = file_->Finish();
  file_.reset();
  return status_;
}

}  // namespace npustream::pipeline
