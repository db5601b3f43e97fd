#pragma once

#include <string>
#include <string_view>

namespace npustream::pipeline {

// A sentence that says which Debian package brings a GStreamer element, or what to do when it is one of ours.
std::string HowToGetElement(std::string_view factory);

// The same for what GStreamer's missing-plugin message describes ("Matroska demuxer", detail
// "…|demuxer|video/x-matroska").
std::string HowToGetPlugin(std::string_view description);

}  // namespace npustream::pipeline
