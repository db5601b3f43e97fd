#pragma once

#include <cstdint>

#include <gst/gst.h>

namespace npustream::elements {

// When a buffer is presented, in nanoseconds from the start of its stream: its PTS after the segment, so that what a
// container shifts (an MP4's edit list) is taken back. −1 without a PTS; the PTS itself outside a time segment.
int64_t StreamTimeNs(const GstSegment& segment, GstBuffer* buffer);

}  // namespace npustream::elements
