#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace npustream::elements {

// Finds where JPEG pictures end that come in pieces of any size (ITU-T T.81, annex B). Thumbnails in a picture's
// segments are part of it.
class JpegBoundary {
 public:
  // Looks at the bytes that follow those of the last call. How many of them belong to the picture, up to and with its
  // end; nothing when it goes on behind them. The next picture is looked for from there on.
  std::optional<size_t> Scan(std::span<const std::byte> bytes);

 private:
  enum class State { kData, kCode, kLengthHigh, kLengthLow, kSegment };
  bool EndsWith(unsigned byte);

  State state_ = State::kData;
  size_t length_ = 0;  // of the segment, what is still to come
};

}  // namespace npustream::elements
