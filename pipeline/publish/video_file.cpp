#include "pipeline/publish/video_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gst/app/gstappsrc.h>

#include "pipeline/graph/missing_element.h"

namespace npustream::pipeline {
namespace {

constexpr auto kFinishPatience = std::chrono::seconds(60);

struct Encoder {
  const char* factory;
  const char* chain;
};

// Fast rather than small: the video is for looking at once.
constexpr std::array kEncoders{
    Encoder{"x264enc", "x264enc speed-preset=superfast bitrate=4000 threads=2 key-int-max=50 ! h264parse"},
    Encoder{"openh264enc", "openh264enc bitrate=4000000 complexity=low ! h264parse"},
    Encoder{"avenc_mpeg4", "avenc_mpeg4 bitrate=6000000 ! mpeg4videoparse"},
};

bool Installed(const char* factory) { return UniqueObject(gst_element_factory_find(factory)) != nullptr; }

// The system's reason, which elements put behind their own words or leave out.
std::string ReasonOf(const GError& error, const char* details) {
  if (g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT)) return std::strerror(ENOSPC);
  const std::string_view text = details == nullptr ? "" : details;
  const size_t line = text.rfind('\n');
  if (error.domain != GST_RESOURCE_ERROR || line == std::string_view::npos) return error.message;
  const size_t colon = text.rfind(": ");
  return std::string(text.substr(colon == std::string_view::npos || colon < line ? line + 1 : colon + 2));
}

}  // namespace

Result<std::unique_ptr<VideoFile>> VideoFile::Create(NewFile file, const std::string& path, int width, int height,
                                                     int frames_per_second) {
  auto video = std::unique_ptr<VideoFile>(new VideoFile(std::move(file), path, frames_per_second));
  NPUSTREAM_RETURN_IF_ERROR(video->Open(width, height));
  return video;
}

Status VideoFile::Open(int width, int height) {
  const auto encoder =
      std::find_if(kEncoders.begin(), kEncoders.end(), [](const Encoder& e) { return Installed(e.factory); });
  if (encoder == kEncoders.end()) return Status(StatusCode::kNotFound, HowToGetElement("x264enc"));
  for (const char* factory : {"appsrc", "videoconvert", "mp4mux"}) {
    if (!Installed(factory)) return Status(StatusCode::kNotFound, HowToGetElement(factory));
  }
  GError* raw_error = nullptr;
  pipeline_.reset(
      gst_parse_launch_full(fmt::format("appsrc name=frames format=time max-buffers=0 max-bytes=0 max-time=0 ! "
                                        "videoconvert ! video/x-raw,format=I420 ! {} ! mp4mux ! filesink name=file",
                                        encoder->chain)
                                .c_str(),
                            nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw_error));
  const UniqueError error(raw_error);
  if (pipeline_ == nullptr) {
    return Status(StatusCode::kInternal,
                  fmt::format("the video encoder cannot be built: {}", error ? error->message : "?"));
  }
  source_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "frames"));
  const UniqueElement sink(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "file"));
  g_object_set(sink.get(), "location", file_.WorkPath().c_str(), nullptr);
  const UniqueCaps caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "BGR", "width", G_TYPE_INT, width,
                                            "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION,
                                            frames_per_second_, 1, nullptr));
  g_object_set(source_.get(), "caps", caps.get(), nullptr);
  const UniquePad pad(gst_element_get_static_pad(source_.get(), "src"));
  gst_pad_add_probe(
      pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo*, gpointer self) {
        auto* video = static_cast<VideoFile*>(self);
        MutexLock lock(video->mutex_);
        ++video->taken_;
        video->changed_.NotifyAll();
        return GST_PAD_PROBE_OK;
      },
      this, nullptr);
  const UniqueBus bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(
      bus.get(),
      [](GstBus*, GstMessage* message, gpointer self) {
        static_cast<VideoFile*>(self)->TakeNote(message);
        gst_message_unref(message);
        return GST_BUS_DROP;
      },
      this, nullptr);
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return Status();
  return Failure();
}

VideoFile::~VideoFile() { Stop(); }

void VideoFile::Stop() {
  if (pipeline_ != nullptr) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  source_.reset();
  pipeline_.reset();
}

void VideoFile::TakeNote(GstMessage* message) {
  const GstMessageType type = GST_MESSAGE_TYPE(message);
  if (type != GST_MESSAGE_ERROR && type != GST_MESSAGE_EOS) return;
  MutexLock lock(mutex_);
  ended_ = true;
  changed_.NotifyAll();
  // The first error is the cause of those that follow.
  if (type == GST_MESSAGE_EOS || !failure_.ok()) return;
  GError* raw_error = nullptr;
  gchar* raw_details = nullptr;
  gst_message_parse_error(message, &raw_error, &raw_details);
  const UniqueError error(raw_error);
  const UniqueText details(raw_details);
  failure_ = Status(StatusCode::kIoError, fmt::format("cannot write {}: {}", path_, ReasonOf(*error, details.get())));
}

Status VideoFile::Failure() const {
  MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_;
  return Status(StatusCode::kIoError, fmt::format("cannot write {}: the encoder did not come to its end", path_));
}

Status VideoFile::Write(const cv::Mat& bgr) {
  {
    MutexLock lock(mutex_);
    while (!ended_ && frames_ - taken_ >= kAhead) changed_.Wait(lock);
    if (!failure_.ok()) return failure_;
  }
  // BGR rows of GStreamer are padded to a multiple of four bytes; even widths of tiles are not always such.
  const size_t row_bytes = static_cast<size_t>(bgr.cols) * 3, stride = (row_bytes + 3) & ~size_t{3};
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, stride * static_cast<size_t>(bgr.rows), nullptr);
  GstMapInfo map;
  if (buffer == nullptr || !gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
    return Status(StatusCode::kResourceExhausted, "no memory for a picture of the annotated video");
  }
  for (int row = 0; row < bgr.rows; ++row)
    std::memcpy(map.data + stride * static_cast<size_t>(row), bgr.ptr(row), row_bytes);
  gst_buffer_unmap(buffer, &map);
  const auto rate = static_cast<guint64>(frames_per_second_);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(frames_++, GST_SECOND, rate);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / rate;
  return gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer) == GST_FLOW_OK ? Status() : Failure();
}

Status VideoFile::Finish() {
  gst_app_src_end_of_stream(GST_APP_SRC(source_.get()));
  const auto deadline = std::chrono::steady_clock::now() + kFinishPatience;
  bool ended = false;
  {
    MutexLock lock(mutex_);
    while (!ended_ && std::chrono::steady_clock::now() < deadline) changed_.WaitFor(lock, kFinishPatience);
    ended = ended_;
  }
  // Taking the encoder down closes the file, which may fail too.
  Stop();
  MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_;
  if (ended) return file_.Commit();
  return Status(StatusCode::kIoError, fmt::format("cannot write {}: the encoder did not come to its end", path_));
}

}  // namespace npustream::pipeline
