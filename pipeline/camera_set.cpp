#include "pipeline/camera_set.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/clock.h"
#include "elements/sink/record_writer.h"
#include "pipeline/config/records_path.h"
#include "pipeline/publish/host_frame.h"

namespace npustream::pipeline {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr int64_t kProgressEveryNs = 500'000'000;
constexpr int64_t kStopPatienceNs = 15'000'000'000;  // from asking cameras to stop until they are cut off

}  // namespace

struct CameraSet::Member {
  std::unique_ptr<Camera> camera;  // null: refused
  RecordFile* records = nullptr;   // null: none; owned by files_
  bool running = false;
  std::string failure;
};

// Filled by the cameras' threads.
struct CameraSet::Ended {
  Mutex mutex;
  CondVar changed;
  std::vector<size_t> cameras NPUSTREAM_GUARDED_BY(mutex);

  void Add(size_t index) {
    MutexLock lock(mutex);
    cameras.push_back(index);
    changed.NotifyOne();
  }
  // Those that have ended, after waiting a little for one.
  std::vector<size_t> Take() {
    MutexLock lock(mutex);
    if (cameras.empty()) changed.WaitFor(lock, kTick);
    return std::exchange(cameras, {});
  }
};

CameraSet::CameraSet(const RunConfig& config, const RunOptions& options)
    : config_(config),
      options_(options),
      files_(options.records_on_commit ? RecordFile::Visibility::kOnCommit : RecordFile::Visibility::kAtOnce),
      ended_(std::make_unique<Ended>()) {
  for (size_t i = 0; i < config.cameras.size(); ++i) {
    members_.push_back(std::make_unique<Member>());
    members_[i]->camera = MakeCamera(i);
  }
}

CameraSet::~CameraSet() { AbortAll(); }

std::unique_ptr<Camera> CameraSet::MakeCamera(size_t index) {
  const CameraConfig& camera = config_.cameras[index];
  CameraOptions options;
  options.download = !config_.outputs.video.empty();
  options.on_frame = [this, index](const CameraFrame& frame) { return OnFrame(index, frame); };
  options.on_ended = [this, index] { ended_->Add(index); };
  return std::make_unique<Camera>(camera, config_.ModelOf(camera), std::move(options));
}

Status CameraSet::OpenOutputs() {
  for (size_t i = 0; i < members_.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(members_[i]->records, files_.For(RecordsPath(config_, config_.cameras[i])));
  }
  if (config_.outputs.video.empty()) return Status();
  std::vector<AnnotatedGrid::Tile> tiles;
  for (const CameraConfig& camera : config_.cameras) tiles.push_back({camera.name, camera.live()});
  NPUSTREAM_ASSIGN_OR_RETURN(grid_, AnnotatedGrid::Create(config_.outputs.video, std::move(tiles)));
  return Status();
}

Status CameraSet::OnFrame(size_t index, const CameraFrame& frame) {
  if (RecordFile* records = members_[index]->records) {
    NPUSTREAM_RETURN_IF_ERROR(records->Write(elements::FormatRecord(frame.info, frame.pts_ns, frame.result)));
  }
  if (grid_ == nullptr) return Status();
  return WithHostPicture(frame.sample,
                         [&](const HostPicture& picture) { grid_->Add(index, picture, frame.result.objects); });
}

void CameraSet::Refuse(size_t index, const Status& status) {
  members_[index]->camera.reset();
  EndMember(index, status);
}

void CameraSet::StartMember(size_t index) {
  Member& member = *members_[index];
  if (member.camera == nullptr) return;
  member.running = true;
  if (Status status = member.camera->Start(); !status.ok()) EndMember(index, status);
}

void CameraSet::EndMember(size_t index, const Status& status) {
  Member& member = *members_[index];
  member.running = false;
  if (grid_ != nullptr) grid_->End(index);
  if (status.ok()) return;
  member.failure = status.message();
  if (options_.on_failure)
    options_.on_failure(fmt::format("camera {}: {}", config_.cameras[index].name, member.failure));
}

void CameraSet::FinishPass(size_t index) {
  Member& member = *members_[index];
  if (!member.running) return;
  const bool any_frames = member.camera->pass_frames() > 0;
  const Status status = member.camera->FinishPass();
  // A file without frames would be begun again for ever.
  if (status.ok() && config_.cameras[index].loop && any_frames && !stopping_) {
    StartMember(index);
  } else {
    EndMember(index, status);
  }
}

void CameraSet::RequestStop() {
  stopping_ = true;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i]->running) continue;
    Camera& camera = *members_[i]->camera;
    // Of a camera that has not answered yet nothing is on its way.
    if (config_.cameras[i].rtsp() && camera.pass_frames() == 0) {
      EndMember(i, camera.Abort());
    } else {
      camera.RequestStop();
    }
  }
}

void CameraSet::AbortAll() {
  if (grid_ != nullptr) grid_->Abort();
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->running) EndMember(i, members_[i]->camera->Abort());
  }
}

bool CameraSet::AnyRunning() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) { return member->running; });
}

Progress CameraSet::ProgressAt(double seconds) const {
  Progress progress;
  progress.seconds = seconds;
  for (const auto& member : members_) {
    if (member->camera != nullptr) progress.frames += member->camera->figures().frames_in;
    if (member->running) ++progress.cameras_running;
  }
  return progress;
}

void CameraSet::Run() {
  const Clock& clock = Clock::System();
  const int64_t begin_ns = clock.NowNs();
  for (size_t i = 0; i < members_.size(); ++i) StartMember(i);
  int64_t progress_ns = begin_ns, stop_ns = 0;
  while (AnyRunning()) {
    for (size_t index : ended_->Take()) FinishPass(index);
    const int64_t now_ns = clock.NowNs();
    const double seconds = static_cast<double>(now_ns - begin_ns) / 1e9;
    const bool asked = options_.stop != nullptr && options_.stop->load();
    if (!stopping_ && (asked || (options_.duration_s > 0 && seconds >= options_.duration_s))) {
      stop_ns = now_ns;
      RequestStop();
    }
    if (stopping_ && now_ns - stop_ns > kStopPatienceNs) AbortAll();
    if (options_.on_progress && now_ns - progress_ns >= kProgressEveryNs) {
      progress_ns = now_ns;
      options_.on_progress(ProgressAt(seconds));
    }
  }
}

Status CameraSet::CloseRecords() {
  if (!options_.records_on_commit) return files_.CommitAll();
  // A file that appears when the work is done appears neither for work that was stopped nor for none.
  if (stopping_) return Status(StatusCode::kUnavailable, "stopped before the end; no records were written");
  const bool any = std::any_of(members_.begin(), members_.end(), [](const auto& member) {
    return member->camera != nullptr && member->camera->figures().records_out > 0;
  });
  return any ? files_.CommitAll() : Status();
}

Status CameraSet::Close() {
  Status status = CloseRecords();
  if (grid_ == nullptr) return status;
  Status video = grid_->Finish();
  return status.ok() ? video : status;
}

std::vector<CameraOutcome> CameraSet::Outcomes() const {
  std::vector<CameraOutcome> outcomes;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& member = *members_[i];
    outcomes.push_back({config_.cameras[i].name, member.camera == nullptr ? CameraFigures() : member.camera->figures(),
                        member.failure});
  }
  return outcomes;
}

}  // namespace npustream::pipeline
