#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "pipeline/camera/camera.h"
#include "pipeline/publish/annotated_grid.h"
#include "pipeline/publish/record_file.h"
#include "pipeline/run.h"

namespace npustream::pipeline {

// The cameras of a run and where their frames go. Used by the thread that runs them.
class CameraSet {
 public:
  CameraSet(const RunConfig& config, const RunOptions& options);
  ~CameraSet();

  // Opens the outputs. kIoError when a file cannot be written.
  Status OpenOutputs();
  // Notes that camera `index` cannot run at all.
  void Refuse(size_t index, const Status& status);
  // Starts the cameras that were not refused, and waits until all have ended, been stopped or failed.
  void Run();
  // Completes the outputs.
  Status Close();
  std::vector<CameraOutcome> Outcomes() const;

 private:
  struct Member;
  struct Ended;

  std::unique_ptr<Camera> MakeCamera(size_t index);
  Status OnFrame(size_t index, const CameraFrame& frame);
  void StartMember(size_t index);
  void EndMember(size_t index, const Status& status);
  void FinishPass(size_t index);
  void RequestStop();
  void AbortAll();
  Status CloseRecords();
  bool AnyRunning() const;
  Progress ProgressAt(double seconds) const;

  const RunConfig& config_;
  const RunOptions& options_;
  RecordFiles files_;
  std::unique_ptr<AnnotatedGrid> grid_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<Ended> ended_;  // which cameras' streams have ended and wait for FinishPass
  bool stopping_ = false;
};

}  // namespace npustream::pipeline
