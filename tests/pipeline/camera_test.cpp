#include "pipeline/camera/camera.h"

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pipeline/run.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

using testing_support::RunShell;

struct Seen {
  uint64_t frame_id;
  int64_t pts_ns;
};

// A camera on a clip of 25 frames a second, with the included model.
class FileCamera : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitializeGStreamer().ok());
    model_.name = model_.request.model = "coco-day";
    config_.name = "gate";
    config_.model = model_.name;
    config_.location = folder_ / "clip.mp4";
  }

  void MakeClip(int frames, const std::string& encoder = "x264enc bframes=0") {
    const auto run = RunShell("gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=" + std::to_string(frames) +
                              " ! video/x-raw,width=320,height=240,framerate=25/1 ! " + encoder +
                              " ! h264parse ! mp4mux ! filesink location='" + config_.location + "'");
    ASSERT_EQ(run.exit_code, 0) << run.output;
  }

  std::unique_ptr<Camera> Make() {
    CameraOptions options;
    options.on_frame = [this](const CameraFrame& frame) {
      on_frame_();
      seen_.push_back({frame.info.frame_id, frame.pts_ns});
      return Status();
    };
    options.on_ended = [this] {
      MutexLock lock(mutex_);
      ended_ = true;
      changed_.NotifyAll();
    };
    return std::make_unique<Camera>(config_, model_, std::move(options));
  }

  void RunOnePass(Camera& camera) {
    ended_ = false;
    ASSERT_TRUE(camera.Start().ok());
    MutexLock lock(mutex_);
    while (!ended_) changed_.Wait(lock);
    lock.Unlock();
    const Status status = camera.FinishPass();
    EXPECT_TRUE(status.ok()) << status.message();
  }

  testing_support::TemporaryFolder folder_;
  ModelConfig model_;
  CameraConfig config_;
  std::vector<Seen> seen_;
  std::function<void()> on_frame_ = [] {};
  Mutex mutex_;
  CondVar changed_;
  bool ended_ = false;
};

// B-frames make the container shift all times by two frames and take that back by an edit list.
TEST_F(FileCamera, NumbersAndTimesGoOnFromPassToPass) {
  MakeClip(10, "x264enc bframes=2");
  const auto camera = Make();
  for (int pass = 0; pass < 3; ++pass) RunOnePass(*camera);
  ASSERT_EQ(seen_.size(), 30u);
  for (size_t i = 0; i < seen_.size(); ++i) {
    EXPECT_EQ(seen_[i].frame_id, i);
    EXPECT_EQ(seen_[i].pts_ns, static_cast<int64_t>(i) * 40'000'000);
  }
  EXPECT_EQ(camera->figures().frames_in, 30u);
  EXPECT_EQ(camera->figures().records_out, 30u);
  EXPECT_EQ(camera->figures().TotalDropped(), 0u);
}

// The reader of the records stands still until the whole clip has gone by, as a camera does not wait for it.
TEST_F(FileCamera, AtItsOwnPaceWaitsForNobodyAndCountsWhatIsDropped) {
  constexpr uint64_t kFrames = 50;
  MakeClip(kFrames);
  config_.realtime = true;
  const auto camera = Make();
  on_frame_ = [&] {
    while (camera->figures().frames_in < kFrames) std::this_thread::yield();
  };
  const auto begin = std::chrono::steady_clock::now();
  RunOnePass(*camera);
  const CameraFigures figures = camera->figures();
  EXPECT_EQ(figures.frames_in, kFrames);
  EXPECT_EQ(figures.records_out, seen_.size());
  EXPECT_EQ(figures.records_out + figures.TotalDropped(), kFrames);
  EXPECT_EQ(figures.dropped.size(), 1u);
  EXPECT_GT(figures.dropped.at("queue-full"), 0u);
  for (size_t i = 1; i < seen_.size(); ++i) {
    EXPECT_GT(seen_[i].frame_id, seen_[i - 1].frame_id);
    EXPECT_EQ(seen_[i].pts_ns, static_cast<int64_t>(seen_[i].frame_id) * 40'000'000);
  }
  // The last of 50 frames is due after 49 intervals, however slow the machine.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(49 * 40));
}

TEST_F(FileCamera, ANamedPipeIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(mkfifo(config_.location.c_str(), 0600), 0);
  const Status status = Camera::CheckSource(config_);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("is a named pipe"), std::string::npos) << status.message();
  config_.location = "/dev/stdin";
  EXPECT_TRUE(Camera::CheckSource(config_).ok());
}

}  // namespace
}  // namespace npustream::pipeline
