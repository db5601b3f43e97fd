#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

struct JpegHeader {
  int width = 0;
  int height = 0;
  int components = 0;
  acldvppJpegFormat format = ACL_JPEG_CSS_UNKNOWN;
  bool progressive = false;
};

// Reads the frame header (ITU-T T.81, B.2.2) without decoding. kCorruptData: not a JPEG, no frame header in `data`, or
// an empty picture; kUnsupported: a coding process other than baseline, extended or progressive Huffman.
Result<JpegHeader> ReadJpegHeader(std::span<const uint8_t> data);

}  // namespace npustream::dvpp
