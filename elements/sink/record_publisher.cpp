#include "elements/sink/record_publisher.h"

#include <fmt/format.h>

#include "base/percentile.h"
#include "elements/meta/npu_metas.h"
#include "elements/meta/stream_time.h"

namespace npustream::elements {
namespace {

constexpr size_t kLatencySample = 4096;
// A reader of a live camera's file sees records this late at most.
constexpr int64_t kFlushPeriodNs = 1'000'000'000;
constexpr const char* kDefaultCamera = "camera";

}  // namespace

RecordPublisher::RecordPublisher(const PublisherOptions& options, std::unique_ptr<RecordWriter> writer, Clock& clock)
    : options_(options), writer_(std::move(writer)), clock_(clock), flushed_ns_(clock.NowNs()) {}

Result<std::unique_ptr<RecordPublisher>> RecordPublisher::Create(const PublisherOptions& options, Clock& clock) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<RecordWriter> writer, RecordWriter::Open(options.location));
  return std::unique_ptr<RecordPublisher>(
      new RecordPublisher(options, std::move(writer), clock));  // private constructor
}

FrameInfo RecordPublisher::FrameOf(GstBuffer* buffer) {
  FrameInfo frame;
  if (const FrameInfo* attached = NpuFrameMeta::Get(buffer)) {
    frame = *attached;
  } else {
    MutexLock lock(mutex_);
    frame.frame_id = counts_.frames;
  }
  if (!options_.camera_id.empty()) frame.camera_id = options_.camera_id;
  if (!options_.source.empty()) frame.source = options_.source;
  if (frame.camera_id.empty()) frame.camera_id = kDefaultCamera;
  return frame;
}

Status RecordPublisher::Publish(GstBuffer* buffer, const GstSegment& segment) {
  const FrameInfo frame = FrameOf(buffer);
  const int64_t pts_ns = StreamTimeNs(segment, buffer);
  uint64_t records = 0, objects = 0;
  Status status;
  ForEachPayload<NpuDetectionMeta>(buffer, [&](const DetectionResult& result) {
    status = writer_->WriteLine(FormatRecord(frame, pts_ns, result));
    ++records;
    objects += result.objects.size();
    return status.ok();
  });
  NPUSTREAM_RETURN_IF_ERROR(status);
  const int64_t now_ns = clock_.NowNs();
  Count(frame, records, objects, now_ns);
  if (now_ns - flushed_ns_ < kFlushPeriodNs) return Status();
  flushed_ns_ = now_ns;
  return Flush();
}

void RecordPublisher::Count(const FrameInfo& frame, uint64_t records, uint64_t objects, int64_t now_ns) {
  MutexLock lock(mutex_);
  ++counts_.frames;
  counts_.records += records;
  counts_.objects += objects;
  if (records == 0) {
    const std::string_view reason = ToString(frame.skipped);
    ++counts_.dropped[std::string(reason.empty() ? "no-result" : reason)];
  }
  if (frame.decode_begin_ns < 0) return;
  if (latencies_ns_.size() < kLatencySample) latencies_ns_.resize(latencies_ns_.size() + 1);
  latencies_ns_[next_latency_] = now_ns - frame.decode_begin_ns;
  next_latency_ = (next_latency_ + 1) % kLatencySample;
}

Status RecordPublisher::Flush() { return writer_->Flush(); }

GstStructure* RecordPublisher::Stats(const char* name) const {
  RecordCounts counts;
  std::vector<int64_t> latencies_ns;
  {
    MutexLock lock(mutex_);
    counts = counts_;
    latencies_ns = latencies_ns_;
  }
  GstStructure* stats = gst_structure_new(name, "frames-in", G_TYPE_UINT64, counts.frames, "records-out", G_TYPE_UINT64,
                                          counts.records, "objects", G_TYPE_UINT64, counts.objects, "latency-p50-ms",
                                          G_TYPE_DOUBLE, PercentileMs(latencies_ns, 0.5), "latency-p99-ms",
                                          G_TYPE_DOUBLE, PercentileMs(latencies_ns, 0.99), nullptr);
  for (const auto& [reason, frames] : counts.dropped) {
    gst_structure_set(stats, fmt::format("dropped-{}", reason).c_str(), G_TYPE_UINT64, frames, nullptr);
  }
  return stats;
}

}  // namespace npustream::elements
