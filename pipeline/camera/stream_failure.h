#pragma once

#include <optional>
#include <string>

#include <gst/gst.h>

namespace npustream::pipeline {

// What an RTSP session failed of, for rtspsrc's errors that name GStreamer's part in it and not the camera's.
std::optional<std::string> RtspFailure(const GError& error);

// True for the warning by which rtspsrc says that the camera has closed the connection in the middle of the stream; an
// end of stream follows, and no error.
bool IsBrokenOff(const GError& warning);

}  // namespace npustream::pipeline
