#include "elements/meta/stream_time.h"

namespace npustream::elements {

int64_t StreamTimeNs(const GstSegment& segment, GstBuffer* buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return -1;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  if (segment.format != GST_FORMAT_TIME) return static_cast<int64_t>(pts);
  const guint64 time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts);
  return static_cast<int64_t>(time == GST_CLOCK_TIME_NONE ? pts : time);
}

}  // namespace npustream::elements
