#include "pipeline/publish/video_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gst/app/gstappsrc.h>

#include "pipeline/graph/missing_element.h"

namespace npustream::pipeline {
namespace {

constexpr GstClockTime kFinishTimeout = 60 * GST_SECOND;

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

}  // namespace

Result<std::unique_ptr<VideoFile>> VideoFile::Create(const std::string& path, int width, int height,
                                                     int frames_per_second) {
  const std::filesystem::path target(path);
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  auto file =
      std::unique_ptr<VideoFile>(new VideoFile(path, fmt::format("{}.{}.part", path, getpid()), frames_per_second));
  NPUSTREAM_RETURN_IF_ERROR(file->Open(width, height));
  return file;
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
      gst_parse_launch_full(fmt::format("appsrc name=frames format=time block=true max-buffers=4 max-bytes=0 ! "
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
  g_object_set(sink.get(), "location", written_.c_str(), nullptr);
  const UniqueCaps caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "BGR", "width", G_TYPE_INT, width,
                                            "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION,
                                            frames_per_second_, 1, nullptr));
  g_object_set(source_.get(), "caps", caps.get(), nullptr);
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return Status();
  return FirstError();
}

VideoFile::~VideoFile() {
  if (pipeline_ == nullptr) return;
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  std::error_code ignored;
  std::filesystem::remove(written_, ignored);
}

Status VideoFile::FirstError() const {
  const UniqueBus bus(gst_element_get_bus(pipeline_.get()));
  const UniqueMessage message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  if (message == nullptr) return Status(StatusCode::kIoError, fmt::format("cannot write {}", path_));
  GError* raw_error = nullptr;
  gst_message_parse_error(message.get(), &raw_error, nullptr);
  const UniqueError error(raw_error);
  return Status(StatusCode::kIoError, fmt::format("cannot write {}: {}", path_, error->message));
}

Status VideoFile::Write(const cv::Mat& bgr) {
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
  return gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer) == GST_FLOW_OK ? Status() : FirstError();
}

Status VideoFile::Finish() {
  gst_app_src_end_of_stream(GST_APP_SRC(source_.get()));
  const UniqueBus bus(gst_element_get_bus(pipeline_.get()));
  const UniqueMessage message(gst_bus_timed_pop_filtered(
      bus.get(), kFinishTimeout, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  const bool ended = message != nullptr && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS;
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  pipeline_.reset();
  source_.reset();
  std::error_code error;
  if (ended) std::filesystem::rename(written_, path_, error);
  if (ended && !error) return Status();
  const std::string reason = error ? error.message() : "the encoder did not come to its end";
  std::filesystem::remove(written_, error);
  return Status(StatusCode::kIoError, fmt::format("cannot write {}: {}", path_, reason));
}

}  // namespace npustream::pipeline
