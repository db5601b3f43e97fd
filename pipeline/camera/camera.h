#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gst/gst.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "elements/meta/detection_result.h"
#include "elements/meta/frame_info.h"
#include "pipeline/camera/gst_handles.h"
#include "pipeline/camera/picture_feeder.h"
#include "pipeline/config/run_config.h"
#include "pipeline/graph/launch_line.h"
#include "pipeline/metrics/camera_metrics.h"

namespace npustream::pipeline {

// A frame that reached the end of a camera's pipeline with what a model found in it.
struct CameraFrame {
  const elements::FrameInfo& info;
  int64_t pts_ns;  // −1: none
  const elements::DetectionResult& result;
  GstSample* sample;  // the frame itself: in device memory, or NV12 on the host when the camera downloads
};

struct CameraOptions {
  bool download = false;  // frames come to the host
  // Called for every frame with a result, in order, on the camera's own thread; may block, which holds the camera back.
  std::function<Status(const CameraFrame&)> on_frame;
  // Called once per pass when the stream has come to its end or failed, on any thread; must only take note.
  std::function<void()> on_ended;
};

// One camera with a GstPipeline of its own, so that what happens to it happens to no other. Start, FinishPass and Stop
// belong to one thread.
class Camera {
 public:
  Camera(const CameraConfig& config, const ModelConfig& model, CameraOptions options, Clock& clock = Clock::System());
  // Ends what still runs.
  ~Camera();
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  // Whether a camera's file or folder is there and may hold something; a URI is not looked at. Takes no time.
  static Status CheckSource(const CameraConfig& config);

  // Builds the pipeline and sets it playing. Errors are sentences with the file and the reason; later ones come by
  // FinishPass.
  Status Start();
  // Asks the stream to end after the frames that are decoded already; on_ended follows. Any thread.
  void RequestStop();
  // After on_ended: takes the pipeline down and accounts for every frame. Gives why the camera failed. Start may be
  // called again: frame numbers and times go on.
  Status FinishPass();
  // Likewise without on_ended, losing what is on its way.
  Status Abort();

  const CameraConfig& config() const { return config_; }
  CameraFigures figures() const { return metrics_.Snapshot(); }
  // Frames that came to the decoder since the last Start.
  uint64_t pass_frames() const;

 private:
  // What a pass has seen; frames that went in and never came out are found by subtraction.
  struct Pass {
    uint64_t frames_in = 0, decoded = 0, finished = 0, results = 0;
    std::string first_warning;
    int64_t end_ns = 0;  // of the last frame, from the start of the stream
    std::vector<bool> pictures_decoded;
  };

  Status BuildPipeline();
  void ConnectPads();
  // False: the buffer is to be dropped.
  bool OnFrameIn();
  bool OnDecoded(GstBuffer* buffer);
  GstFlowReturn OnSample(GstSample* sample);
  void NoteFinished(int64_t pts_ns, GstBuffer* buffer) NPUSTREAM_EXCLUDES(mutex_);
  void TakeNote(GstMessage* message);
  void TakeWarning(GstMessage* message);
  void SetFailure(Status failure) NPUSTREAM_EXCLUDES(mutex_);
  Status Describe(GstMessage* error);
  Status PictureFailures(bool ended);
  Status WhyNothing(bool whole) const NPUSTREAM_REQUIRES(mutex_);
  std::string DisplayName() const;
  std::string Explain(const GError& error) const;
  Status TakeDown(bool ended);

  static GstBusSyncReply OnMessage(GstBus* bus, GstMessage* message, gpointer self);

  const CameraConfig config_;
  const ModelConfig model_;
  const CameraOptions options_;
  Clock& clock_;
  CameraMetrics metrics_;
  UniqueElement pipeline_;
  std::unique_ptr<PictureFeeder> feeder_;
  std::atomic<bool> stop_requested_ = false;  // in this pass
  uint64_t first_frame_id_ = 0;               // of this pass
  int64_t first_pts_ns_ = 0;

  mutable Mutex mutex_;
  Pass pass_ NPUSTREAM_GUARDED_BY(mutex_);
  Status failure_ NPUSTREAM_GUARDED_BY(mutex_);
  std::string missing_plugin_ NPUSTREAM_GUARDED_BY(mutex_);
  bool ended_ NPUSTREAM_GUARDED_BY(mutex_) = false;
};

}  // namespace npustream::pipeline
