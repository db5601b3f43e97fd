#include "pipeline/camera/camera.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <gst/app/gstappsink.h>
#include <gst/pbutils/missing-plugins.h>

#include "base/log.h"
#include "elements/meta/npu_metas.h"
#include "elements/meta/stream_time.h"
#include "pipeline/camera/connection_failure.h"
#include "pipeline/config/expand_env.h"
#include "pipeline/graph/missing_element.h"

namespace npustream::pipeline {
namespace {

namespace fs = std::filesystem;

// The first element of the description that GStreamer does not know.
Status CheckElements(const LaunchLine& line) {
  for (const LaunchLine::Element& element : line.elements()) {
    if (element.factory.find('/') != std::string::npos) continue;  // caps
    const UniqueObject factory(gst_element_factory_find(element.factory.c_str()));
    if (factory == nullptr) return Status(StatusCode::kNotFound, HowToGetElement(element.factory));
  }
  return Status();
}

UniqueElement Child(GstElement* pipeline, const char* name) {
  return UniqueElement(gst_bin_get_by_name(GST_BIN(pipeline), name));
}

void AddBufferProbe(GstElement* element, const char* pad_name, GstPadProbeCallback callback, gpointer data) {
  const UniquePad pad(gst_element_get_static_pad(element, pad_name));
  if (pad != nullptr) gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, callback, data, nullptr);
}

uint64_t DecoderErrors(GstElement* pipeline) {
  const UniqueElement decoder = Child(pipeline, "decoder");
  GstStructure* stats = nullptr;
  guint64 errors = 0;
  if (decoder != nullptr) g_object_get(decoder.get(), "stats", &stats, nullptr);
  if (stats == nullptr) return 0;
  gst_structure_get_uint64(stats, "errors", &errors);
  gst_structure_free(stats);
  return errors;
}

// Sentences of GStreamer's elements end in a full stop or not; ours go on.
std::string WithoutStop(std::string text) {
  while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Camera::Camera(const CameraConfig& config, const ModelConfig& model, CameraOptions options, Clock& clock)
    : config_(config), model_(model), options_(std::move(options)), clock_(clock) {}

Camera::~Camera() {
  if (pipeline_ != nullptr) (void)TakeDown(false);
}

// Values of variables in a URI are secrets until proven otherwise.
std::string Camera::DisplayName() const {
  return config_.kind == SourceKind::kUri ? WithoutPassword(config_.location_as_written) : config_.location;
}

// GStreamer's words, in which a URI may stand with all that is secret about it.
std::string Camera::Explain(const GError& error) const {
  if (config_.rtsp()) {
    if (const auto failure = RtspFailure(error)) return *failure;
  }
  std::string text = WithoutStop(error.message);
  if (config_.kind != SourceKind::kUri) return text;
  const std::string shown = DisplayName();
  for (size_t at = text.find(config_.location); at != std::string::npos;
       at = text.find(config_.location, at + shown.size())) {
    text.replace(at, config_.location.size(), shown);
  }
  return text;
}

Status Camera::CheckSource(const CameraConfig& config) {
  if (config.kind == SourceKind::kUri) return Status();
  std::error_code error;
  const fs::path path = config.location;
  if (!fs::exists(path, error)) {
    return Status(StatusCode::kNotFound, fmt::format("{} cannot be opened: {}", config.location,
                                                     error ? error.message() : "no such file"));
  }
  if (config.kind == SourceKind::kPictures) return ListPictures(path).status();
  // Opening one waits for its writer, and nothing can end that. (Standard input is open, and its name leads to no file.)
  if (fs::is_fifo(fs::weakly_canonical(path, error), error)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} is a named pipe; a source is a file, or standard input as /dev/stdin", config.location));
  }
  if (fs::is_regular_file(path, error) && fs::file_size(path, error) == 0) {
    return Status(StatusCode::kCorruptData, fmt::format("{} is empty", config.location));
  }
  return Status();
}

Status Camera::Start() {
  NPUSTREAM_RETURN_IF_ERROR(CheckSource(config_));
  if (config_.kind == SourceKind::kPictures) {
    NPUSTREAM_ASSIGN_OR_RETURN(std::vector<fs::path> pictures, ListPictures(config_.location));
    feeder_ = std::make_unique<PictureFeeder>(std::move(pictures));
  }
  stop_requested_ = false;
  {
    MutexLock lock(mutex_);
    pass_ = {};
    failure_ = Status();
    missing_plugin_.clear();
    ended_ = false;
    if (feeder_ != nullptr) pass_.pictures_decoded.resize(feeder_->pictures().size());
  }
  NPUSTREAM_RETURN_IF_ERROR(BuildPipeline());
  ConnectPads();
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    Status failure = TakeDown(false);
    return failure.ok() ? Status(StatusCode::kUnavailable, fmt::format("{} cannot be played", DisplayName())) : failure;
  }
  if (feeder_ != nullptr) feeder_->Start(GST_APP_SRC(Child(pipeline_.get(), "pictures").get()));
  return Status();
}

Status Camera::BuildPipeline() {
  const LaunchLine line =
      DescribeCamera(config_, model_, "", options_.download ? PipelineEnd::kDownload : PipelineEnd::kAppSink);
  NPUSTREAM_RETURN_IF_ERROR(CheckElements(line));
  GError* raw_error = nullptr;
  pipeline_.reset(gst_parse_launch_full(line.ForParser().c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw_error));
  const UniqueError error(raw_error);
  if (pipeline_ == nullptr || error != nullptr) {
    pipeline_.reset();
    return Status(StatusCode::kInternal, fmt::format("the pipeline cannot be built: {}", error ? error->message : "?"));
  }
  return Status();
}

void Camera::ConnectPads() {
  const UniqueElement decoder = Child(pipeline_.get(), "decoder"), sink = Child(pipeline_.get(), "records");
  AddBufferProbe(
      decoder.get(), "sink",
      [](GstPad*, GstPadProbeInfo*, gpointer self) {
        return static_cast<Camera*>(self)->OnFrameIn() ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
      },
      this);
  AddBufferProbe(
      decoder.get(), "src",
      [](GstPad*, GstPadProbeInfo* info, gpointer self) {
        return static_cast<Camera*>(self)->OnDecoded(GST_PAD_PROBE_INFO_BUFFER(info)) ? GST_PAD_PROBE_OK
                                                                                      : GST_PAD_PROBE_DROP;
      },
      this);
  GstAppSinkCallbacks callbacks{};
  callbacks.new_sample = [](GstAppSink* source, gpointer self) {
    const UniqueSample sample(gst_app_sink_pull_sample(source));
    return sample == nullptr ? GST_FLOW_EOS : static_cast<Camera*>(self)->OnSample(sample.get());
  };
  gst_app_sink_set_callbacks(GST_APP_SINK(sink.get()), &callbacks, this, nullptr);
  const UniqueBus bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), OnMessage, this, nullptr);
}

// After a stop nothing more is begun: the parser's queues may hold seconds of the stream.
bool Camera::OnFrameIn() {
  if (stop_requested_) return false;
  metrics_.OnFrameIn(clock_.NowNs());
  MutexLock lock(mutex_);
  ++pass_.frames_in;
  return true;
}

bool Camera::OnDecoded(GstBuffer* buffer) {
  if (stop_requested_) return false;
  MutexLock lock(mutex_);
  ++pass_.decoded;
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return true;
  const size_t index = PictureFeeder::IndexOf(GST_BUFFER_PTS(buffer));
  if (index < pass_.pictures_decoded.size()) pass_.pictures_decoded[index] = true;
  return true;
}

void Camera::NoteFinished(int64_t pts_ns, GstBuffer* buffer) {
  const int64_t duration_ns =
      GST_BUFFER_DURATION_IS_VALID(buffer) ? static_cast<int64_t>(GST_BUFFER_DURATION(buffer)) : 0;
  MutexLock lock(mutex_);
  ++pass_.finished;
  pass_.end_ns = std::max(pass_.end_ns, pts_ns + std::max<int64_t>(duration_ns, 1));
}

GstFlowReturn Camera::OnSample(GstSample* sample) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  const elements::FrameInfo* decoded = elements::NpuFrameMeta::Get(buffer);
  const elements::DetectionResult* result = elements::NpuDetectionMeta::Get(buffer);
  elements::FrameInfo info = decoded == nullptr ? elements::FrameInfo() : *decoded;
  const int64_t now_ns = clock_.NowNs();
  int64_t pts_ns = elements::StreamTimeNs(*gst_sample_get_segment(sample), buffer);
  NoteFinished(pts_ns, buffer);
  if (result == nullptr) {
    const std::string_view reason = elements::ToString(info.skipped);
    metrics_.OnDropped(reason.empty() ? "no-result" : std::string(reason), 1, now_ns);
    return GST_FLOW_OK;
  }
  if (pts_ns >= 0) pts_ns += first_pts_ns_;
  info.camera_id = config_.name;
  info.frame_id += first_frame_id_;
  if (feeder_ != nullptr) {
    info.source = feeder_->PictureAt(GST_BUFFER_PTS(buffer)).filename();
    pts_ns = -1;  // pictures have no time
  } else if (config_.kind == SourceKind::kFile) {
    info.source = fs::path(config_.location).filename();
  }
  if (Status status = options_.on_frame({info, pts_ns, *result, sample}); !status.ok()) {
    metrics_.OnDropped("output", 1, now_ns);
    SetFailure(std::move(status));
    return GST_FLOW_ERROR;
  }
  {
    MutexLock lock(mutex_);
    ++pass_.results;
  }
  metrics_.OnRecord(info.decode_begin_ns < 0 ? -1 : clock_.NowNs() - info.decode_begin_ns, clock_.NowNs());
  return GST_FLOW_OK;
}

GstBusSyncReply Camera::OnMessage(GstBus*, GstMessage* message, gpointer self) {
  static_cast<Camera*>(self)->TakeNote(message);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

void Camera::TakeNote(GstMessage* message) {
  const GstMessageType type = GST_MESSAGE_TYPE(message);
  if (type == GST_MESSAGE_WARNING) return TakeWarning(message);
  if (gst_is_missing_plugin_message(message)) {
    const UniqueText description(gst_missing_plugin_message_get_description(message));
    MutexLock lock(mutex_);
    missing_plugin_ = description.get();
    return;
  }
  if (type == GST_MESSAGE_ERROR) SetFailure(Describe(message));
  if (config_.rtsp() && !stop_requested_ && IsSilence(*message)) {
    SetFailure(Status(StatusCode::kUnavailable, fmt::format("{}: the camera sends nothing any more", DisplayName())));
  }
  if (type != GST_MESSAGE_ERROR && type != GST_MESSAGE_EOS) return;
  {
    MutexLock lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  options_.on_ended();
}

void Camera::TakeWarning(GstMessage* message) {
  GError* raw = nullptr;
  gst_message_parse_warning(message, &raw, nullptr);
  const UniqueError warning(raw);
  // "Delayed linking failed": the error that follows says it better. And who is asked to stop may break off.
  if (warning->domain == GST_PARSE_ERROR || stop_requested_) return;
  const std::string sentence = Explain(*warning);
  if (config_.rtsp() && IsBrokenOff(*warning)) {
    return SetFailure(Status(StatusCode::kUnavailable, fmt::format("{}: {}", DisplayName(), sentence)));
  }
  Log(LogLevel::kWarning, "pipeline", "camera {}: {}: {}", config_.name, DisplayName(), sentence);
  MutexLock lock(mutex_);
  if (pass_.first_warning.empty()) pass_.first_warning = sentence;
}

// The first failure is the cause; what follows ("streaming stopped, reason error") is its consequence. After the end only
// the taking down fails: a source may still read when its own connection is closed under it.
void Camera::SetFailure(Status failure) {
  MutexLock lock(mutex_);
  if (failure_.ok() && !ended_) failure_ = std::move(failure);
}

Status Camera::Describe(GstMessage* error_message) {
  GError* raw = nullptr;
  gchar* raw_details = nullptr;
  gst_message_parse_error(error_message, &raw, &raw_details);
  const UniqueError error(raw);
  const UniqueText details(raw_details);
  // A demuxer whose pads nobody takes gives up with this flow return.
  const bool not_linked =
      details != nullptr && std::string_view(details.get()).find("not-linked") != std::string_view::npos;
  const bool never_began = config_.kind == SourceKind::kUri && pass_frames() == 0;
  const std::string unreachable = never_began ? WhyNotReachable(config_.location) : "";
  if (!unreachable.empty()) {
    return Status(StatusCode::kUnavailable, fmt::format("{} cannot be opened: {}", DisplayName(), unreachable));
  }
  MutexLock lock(mutex_);
  if (!missing_plugin_.empty()) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: {}", DisplayName(), HowToGetPlugin(missing_plugin_)));
  }
  if (not_linked) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} has no video in a format that can be decoded", DisplayName()));
  }
  // GStreamer's "No valid frames decoded before end of stream".
  const bool none_decoded = g_error_matches(error.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE);
  if (none_decoded && pass_.decoded == 0 && pass_.frames_in > 0) return WhyNothing(true);
  const bool no_media =
      error->domain == GST_STREAM_ERROR && pass_.frames_in == 0 && config_.kind != SourceKind::kPictures;
  if (no_media) {
    return Status(StatusCode::kCorruptData,
                  fmt::format("{} is not a video that can be read: {}", DisplayName(), Explain(*error)));
  }
  return Status(StatusCode::kUnavailable, fmt::format("{}: {}", DisplayName(), Explain(*error)));
}

void Camera::RequestStop() {
  stop_requested_ = true;
  if (feeder_ != nullptr) {
    feeder_->RequestStop();
  } else if (pipeline_ != nullptr) {
    const UniqueElement pace = Child(pipeline_.get(), "pace");
    if (pace != nullptr) g_object_set(pace.get(), "sync", FALSE, nullptr);
    gst_element_send_event(pipeline_.get(), gst_event_new_eos());
  }
}

Status Camera::FinishPass() { return TakeDown(true); }
Status Camera::Abort() { return TakeDown(false); }

Status Camera::TakeDown(bool ended) {
  if (pipeline_ == nullptr) return Status();
  const uint64_t errors = DecoderErrors(pipeline_.get());
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const UniqueBus bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  pipeline_.reset();
  Status pictures = PictureFailures(ended);
  feeder_.reset();

  MutexLock lock(mutex_);
  const int64_t now_ns = clock_.NowNs();
  const uint64_t undecoded = pass_.frames_in - std::min(pass_.decoded, pass_.frames_in);
  const uint64_t corrupt = std::min(errors, undecoded);
  metrics_.OnDropped("decode", corrupt, now_ns);
  // Without errors: outside the part of the file that is to be shown, or still inside when the stream was cut off.
  const bool whole = ended && failure_.ok() && !stop_requested_;
  metrics_.OnDropped(whole ? "not-shown" : "stopped", undecoded - corrupt, now_ns);
  metrics_.OnDropped(whole ? "lost" : "stopped", pass_.decoded - std::min(pass_.finished, pass_.decoded), now_ns);
  first_frame_id_ += pass_.decoded;
  first_pts_ns_ += pass_.end_ns;
  if (!failure_.ok()) return failure_;
  if (!pictures.ok()) return pictures;
  return WhyNothing(whole);
}

// A stream that came to its end and gave no result at all did not do what was wanted.
Status Camera::WhyNothing(bool whole) const {
  if (!whole || pass_.results > 0) return Status();
  if (pass_.decoded == 0) {
    return Status(StatusCode::kCorruptData, fmt::format("{} has no frame that can be decoded", DisplayName()));
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: none of its frames gave a result{}{}", DisplayName(),
                            pass_.first_warning.empty() ? "" : ": ", pass_.first_warning));
}

// Counts and names the pictures that gave no frame.
Status Camera::PictureFailures(bool ended) {
  if (feeder_ == nullptr) return Status();
  feeder_->Join();
  const int64_t now_ns = clock_.NowNs();
  for (const std::string& sentence : feeder_->unreadable()) {
    Log(LogLevel::kWarning, "pipeline", "camera {}: {}", config_.name, sentence);
    metrics_.OnFrameIn(now_ns);
  }
  metrics_.OnDropped("unreadable", feeder_->unreadable().size(), now_ns);
  size_t broken = feeder_->unreadable().size();
  MutexLock lock(mutex_);
  // A stream that was cut off tells nothing about the pictures that were on their way.
  if (!ended || stop_requested_ || !failure_.ok()) return Status();
  for (size_t index : feeder_->handed_in()) {
    if (pass_.pictures_decoded[index]) continue;
    Log(LogLevel::kWarning, "pipeline", "camera {}: {} cannot be decoded", config_.name,
        feeder_->pictures()[index].string());
    ++broken;
  }
  if (broken == 0) return Status();
  return Status(StatusCode::kCorruptData, fmt::format("{} of the {} pictures of {} could not be read", broken,
                                                      feeder_->pictures().size(), DisplayName()));
}

uint64_t Camera::pass_frames() const {
  MutexLock lock(mutex_);
  return pass_.frames_in;
}

}  // namespace npustream::pipeline
