#pragma once

#include <optional>
#include <string>

#include <gst/gst.h>

namespace npustream::pipeline {

// Why a camera on the network gives nothing, in words about the camera: GStreamer's are about its own part in it.

// Why no TCP connection to a URI's host can be made ("192.0.2.1:554: Connection refused"), for a source that says only
// that it failed. Empty when one can be made, or when the URI does not name a host by a known scheme. Tries for two
// seconds at most per address.
std::string WhyNotReachable(const std::string& uri);

// What an error or warning of rtspsrc means; nothing for one that does not come from the connection.
std::optional<std::string> RtspFailure(const GError& error);

// True for the warning by which rtspsrc says that the camera has closed the connection in the middle of the stream; an
// end of stream follows, and no error.
bool IsBrokenOff(const GError& warning);

// True for the message by which rtspsrc says that nothing has come from the camera for a while, although the connection
// stands; an end of stream follows, and no error.
bool IsSilence(GstMessage& message);

}  // namespace npustream::pipeline
