#include "pipeline/graph/missing_element.h"

#include <array>

#include <fmt/format.h>

namespace npustream::pipeline {
namespace {

struct Packaged {
  std::string_view factory;
  std::string_view package;
};

// The elements that pipelines of ours name, or that parsebin looks for most often; Debian 12.
constexpr std::array kPackages{
    Packaged{"appsink", "gstreamer1.0-plugins-base"},      Packaged{"appsrc", "gstreamer1.0-plugins-base"},
    Packaged{"avidemux", "gstreamer1.0-plugins-good"},     Packaged{"flvdemux", "gstreamer1.0-plugins-good"},
    Packaged{"h264parse", "gstreamer1.0-plugins-bad"},     Packaged{"h265parse", "gstreamer1.0-plugins-bad"},
    Packaged{"jpegparse", "gstreamer1.0-plugins-bad"},     Packaged{"matroskademux", "gstreamer1.0-plugins-good"},
    Packaged{"mp4mux", "gstreamer1.0-plugins-good"},       Packaged{"mpeg4videoparse", "gstreamer1.0-plugins-bad"},
    Packaged{"openh264enc", "gstreamer1.0-plugins-bad"},   Packaged{"parsebin", "gstreamer1.0-plugins-base"},
    Packaged{"qtdemux", "gstreamer1.0-plugins-good"},      Packaged{"rtspsrc", "gstreamer1.0-plugins-good"},
    Packaged{"splitfilesrc", "gstreamer1.0-plugins-good"}, Packaged{"tsdemux", "gstreamer1.0-plugins-bad"},
    Packaged{"urisourcebin", "gstreamer1.0-plugins-base"}, Packaged{"videoconvert", "gstreamer1.0-plugins-base"},
    Packaged{"x264enc", "gstreamer1.0-plugins-ugly"},
};

}  // namespace

std::string HowToGetElement(std::string_view factory) {
  if (factory.starts_with("npu")) {
    return fmt::format(
        "the GStreamer element {} is missing: libgstnpustream.so is not in GST_PLUGIN_PATH or cannot be "
        "loaded (gst-inspect-1.0 {} tells more)",
        factory, factory);
  }
  for (const Packaged& packaged : kPackages) {
    if (packaged.factory == factory) {
      return fmt::format("the GStreamer element {} is missing; install the Debian package {}", factory,
                         packaged.package);
    }
  }
  return fmt::format(
      "the GStreamer element {} is missing; apt-file search libgst or the packages "
      "gstreamer1.0-plugins-good, -bad and -ugly have most of them",
      factory);
}

std::string HowToGetPlugin(std::string_view description) {
  return fmt::format(
      "GStreamer has no {}; the Debian packages gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad and "
      "gstreamer1.0-plugins-ugly bring the usual ones",
      description);
}

}  // namespace npustream::pipeline
