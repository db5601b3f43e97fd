#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_handle.h"
#include "elements/meta/detection_result.h"
#include "elements/meta/frame_info.h"

namespace npustream::elements {

// One JSON object (docs/records.md) without a line end: what a model found in a frame. `pts_ns` −1 gives
// null. Numbers are rounded (pixels to 2 decimals, shares of the frame and confidences to 6) and keys keep their order,
// so that equal results are equal bytes. `capture_time` is there only when it is known.
std::string FormatRecord(const FrameInfo& frame, int64_t pts_ns, const DetectionResult& result);

// UTC nanoseconds as "2026-11-30T08:00:00.480Z".
std::string FormatUtc(int64_t utc_ns);

// Writes lines to a file or, with "-", to standard output. The file is truncated by Open and grows as records come, so
// a reader may find a last line incomplete until Flush. For one thread.
class RecordWriter {
 public:
  static Result<std::unique_ptr<RecordWriter>> Open(const std::string& location);
  ~RecordWriter();
  // `record` without line end. kIoError names the file and the system's reason.
  Status WriteLine(std::string_view record);
  Status Flush();

 private:
  RecordWriter(std::string location, FILE* file, bool owned)
      : location_(std::move(location)), file_(file), owned_(owned) {}
  Status Failure(std::string_view what) const;
  const std::string location_;
  FILE* const file_;
  const bool owned_;
};

}  // namespace npustream::elements
