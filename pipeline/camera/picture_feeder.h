#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gst/app/gstappsrc.h>

#include "base/status.h"

namespace npustream::pipeline {

// The pictures of a folder (not of folders in it), told by content or by name and sorted by name, or the one picture
// that `path` is. kNotFound when there is none. Order is that of the names' bytes, whatever the file system's.
Result<std::vector<std::filesystem::path>> ListPictures(const std::filesystem::path& path);

// Pushes picture files into an appsrc, each as one buffer whose time stamp tells its place in the list, with caps of
// what its content says it is. Ends the stream after the last.
class PictureFeeder {
 public:
  // Time stamps lie one step apart, so IndexOf(PTS) is the place in the list.
  static constexpr GstClockTime kStep = GST_SECOND / 25;
  static size_t IndexOf(GstClockTime pts) { return static_cast<size_t>(pts / kStep); }

  explicit PictureFeeder(std::vector<std::filesystem::path> pictures) : pictures_(std::move(pictures)) {}
  // Stops and joins.
  ~PictureFeeder();

  // Begins to push from a thread of its own, which waits while the appsrc is full.
  void Start(GstAppSrc* source);
  // Ends the stream after the picture that is being pushed.
  void RequestStop() { stopping_ = true; }

  // Waits for the thread; the appsrc must be at its end or flushing.
  void Join();
  // After Join: the places of the pictures that the appsrc took, and sentences about those that could not be read.
  const std::vector<size_t>& handed_in() const { return handed_in_; }
  const std::vector<std::string>& unreadable() const { return unreadable_; }
  const std::vector<std::filesystem::path>& pictures() const { return pictures_; }
  // The picture of a time stamp; the last for one behind it.
  const std::filesystem::path& PictureAt(GstClockTime pts) const {
    return pictures_[std::min(IndexOf(pts), pictures_.size() - 1)];
  }

 private:
  void Run(GstAppSrc* source);
  // False when the appsrc takes no more.
  bool Push(GstAppSrc* source, size_t index);

  const std::vector<std::filesystem::path> pictures_;
  std::atomic<bool> stopping_ = false;
  std::vector<size_t> handed_in_;
  std::vector<std::string> unreadable_;
  std::thread thread_;
};

}  // namespace npustream::pipeline
