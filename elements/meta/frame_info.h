#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npustream::elements {

// Why a frame that went through the pipeline has no detections.
enum class InferenceSkipped {
  kNo,          // it has, or is still on its way
  kInterval,    // inference-interval left it out
  kQueueFull,   // npuinfer's when-full=pass, or the model's queue-policy
  kDeadline,    // npuinfer's deadline-ms passed before the model was free
  kPreprocess,  // the media engine could not scale it, e.g. because it is too small
};

// "interval", "queue-full", "deadline", "preprocess", or "" for kNo: the words of statistics.
std::string_view ToString(InferenceSkipped reason);

// Where a frame comes from; attached by the decoder, read by records and statistics.
struct FrameInfo {
  std::string camera_id;
  std::string source;            // the picture or clip, without folder
  uint64_t frame_id = 0;         // counts the frames of a camera in display order, from 0
  uint64_t corrupt_before = 0;   // frames that could not be decoded since the one before
  int64_t capture_time_ns = -1;  // UTC since 1970; −1: unknown, as with files
  int64_t decode_begin_ns = -1;  // Clock::NowNs when its bytes came to the decoder; −1: unknown
  InferenceSkipped skipped = InferenceSkipped::kNo;
};

}  // namespace npustream::elements
