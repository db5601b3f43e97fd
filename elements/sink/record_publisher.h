#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gst/gst.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "elements/sink/record_writer.h"

namespace npustream::elements {

struct PublisherOptions {
  std::string location = "-";  // file, or "-" for standard output
  std::string camera_id;       // in place of the frame's; empty: the frame's
  std::string source;          // likewise
};

// What became of frames: frames = records + the sum over reasons, when one model looks at each.
struct RecordCounts {
  uint64_t frames = 0;
  uint64_t records = 0;
  uint64_t objects = 0;
  std::map<std::string, uint64_t> dropped;  // frames without a record, by FrameInfo::skipped or "no-result"
};

// Turns the metas of passing buffers into records; what npumetasink and npupublish have in common. Publish and Flush
// are for the streaming thread, Stats for any.
class RecordPublisher {
 public:
  static Result<std::unique_ptr<RecordPublisher>> Create(const PublisherOptions& options,
                                                         Clock& clock = Clock::System());
  // One record per NpuDetectionMeta of the buffer; a buffer without one is counted by the reason in its NpuFrameMeta.
  Status Publish(GstBuffer* buffer, const GstSegment& segment);
  // Everything is in the file when this returns.
  Status Flush();
  // frames-in, records-out, objects (counts), dropped-<reason> (frames), latency-p50-ms and latency-p99-ms from the
  // decoder to the record over the last 4096 frames.
  GstStructure* Stats(const char* name) const;

 private:
  RecordPublisher(const PublisherOptions& options, std::unique_ptr<RecordWriter> writer, Clock& clock);
  FrameInfo FrameOf(GstBuffer* buffer);
  void Count(const FrameInfo& frame, uint64_t records, uint64_t objects, int64_t now_ns);

  const PublisherOptions options_;
  const std::unique_ptr<RecordWriter> writer_;
  Clock& clock_;
  int64_t flushed_ns_;
  mutable Mutex mutex_;
  RecordCounts counts_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<int64_t> latencies_ns_ NPUSTREAM_GUARDED_BY(mutex_);  // a ring of the last frames
  size_t next_latency_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
};

}  // namespace npustream::elements
