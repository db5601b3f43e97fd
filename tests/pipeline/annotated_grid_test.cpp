#include "pipeline/publish/annotated_grid.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pipeline/run.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

// A grey NV12 picture.
struct Grey {
  explicit Grey(uint8_t luma) : y(64 * 48, luma), uv(64 * 24, 128) {}
  HostPicture picture() const { return {y.data(), uv.data(), 64, 48, 64, 64, 10}; }
  std::vector<uint8_t> y, uv;
};

// Pictures in the file, as counted by GStreamer.
int FramesOf(const std::string& path) {
  const auto run = testing_support::RunShell("gst-launch-1.0 filesrc location='" + path +
                                             "' ! qtdemux ! fakesink silent=false -v | grep -c 'chain.*bytes'");
  return std::atoi(run.output.c_str());
}

TEST(DrawTile, PutsBoxesWhereTheObjectsAre) {
  const Grey grey(126);
  elements::DetectedObject object;
  object.detection.box = {16, 12, 48, 36};
  object.detection.confidence = 0.5f;
  cv::Mat tile(96, 128, CV_8UC3);
  DrawTile(grey.picture(), std::vector{object}, "", tile);
  // Twice the size: the box's right edge lies at column 96, its inside and the outside are grey (luma 126 ≈ 128).
  const cv::Vec3b edge = tile.at<cv::Vec3b>(50, 96), inside = tile.at<cv::Vec3b>(50, 64),
                  outside = tile.at<cv::Vec3b>(90, 120);
  EXPECT_NE(edge[0], edge[1]);
  EXPECT_NEAR(inside[0], 128, 3);
  EXPECT_NEAR(outside[2], 128, 3);
}

TEST(AnnotatedGrid, ACameraThatEndsEarlyHoldsNobodyBack) {
  ASSERT_TRUE(InitializeGStreamer().ok());
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() / "grid.mp4";
  auto made = AnnotatedGrid::Create(path, {{"a", false}, {"b", false}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  AnnotatedGrid& grid = **made;
  const Grey dark(30), bright(200);
  // Camera a runs far ahead in a thread of its own and has to wait for b.
  std::thread ahead([&] {
    for (int i = 0; i < 40; ++i) grid.Add(0, dark.picture(), {});
    grid.End(0);
  });
  for (int i = 0; i < 5; ++i) grid.Add(1, bright.picture(), {});
  grid.End(1);
  ahead.join();
  const Status status = grid.Finish();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(FramesOf(path), 40);
}

TEST(AnnotatedGrid, ALiveCameraThatFallsSilentHoldsNobodyBack) {
  ASSERT_TRUE(InitializeGStreamer().ok());
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() / "grid.mp4";
  auto made = AnnotatedGrid::Create(path, {{"film", false}, {"silent", true}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  AnnotatedGrid& grid = **made;
  const Grey dark(30), bright(200);
  grid.Add(1, bright.picture(), {});
  // All in one thread: nothing may wait.
  for (int i = 0; i < 40; ++i) grid.Add(0, dark.picture(), {});
  grid.End(0);
  grid.End(1);
  const Status status = grid.Finish();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(FramesOf(path), 40);
}

TEST(AnnotatedGrid, AFolderThatCannotBeWrittenIsReportedAtOnce) {
  EXPECT_FALSE(AnnotatedGrid::Create("/proc/no/grid.mp4", {{"a", false}}).ok());
}

// The most that this process may write into a file, for a scope: what a full disk does, without a disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(AnnotatedGrid, AFileThatCannotGrowEndsTheVideoWithAReasonAndLeavesNothing) {
  ASSERT_TRUE(InitializeGStreamer().ok());
  const testing_support::TemporaryFolder folder;
  auto grid = AnnotatedGrid::Create(folder.path() / "grid.mp4", {{"a", false}});
  ASSERT_TRUE(grid.ok());
  Status status;
  {
    const FileSizeLimit limit(16);
    // Far more than wait for an encoder: who would wait for one that has failed does not come back.
    for (int i = 0; i < 400; ++i) (*grid)->Add(0, Grey(static_cast<uint8_t>(i)).picture(), {});
    (*grid)->End(0);
    status = (*grid)->Finish();
  }
  EXPECT_NE(status.message().find("grid.mp4: File too large"), std::string::npos) << status.message();
  grid->reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace npustream::pipeline
