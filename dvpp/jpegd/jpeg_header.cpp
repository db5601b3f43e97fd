#include "dvpp/jpegd/jpeg_header.h"

#include <algorithm>

#include <fmt/format.h>

namespace npustream::dvpp {
namespace {

// Markers of ITU-T T.81, table B.1.
constexpr int kStartOfImage = 0xd8;
constexpr int kEndOfImage = 0xd9;
constexpr int kStartOfScan = 0xda;
constexpr int kHuffmanTables = 0xc4;
constexpr int kArithmeticConditioning = 0xcc;
constexpr int kJpegExtension = 0xc8;
constexpr int kProgressive = 0xc2;

bool IsFrameHeader(int marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != kHuffmanTables && marker != kArithmeticConditioning &&
         marker != kJpegExtension;
}

// A marker without a segment: restart intervals and TEM.
bool StandsAlone(int marker) { return (marker >= 0xd0 && marker <= kStartOfImage) || marker == 0x01; }

int Read16(std::span<const uint8_t> data, size_t at) { return data[at] << 8 | data[at + 1]; }

// Luma's sampling factors over chroma's, which must be 1 × 1.
acldvppJpegFormat FormatOf(std::span<const uint8_t> components, int count) {
  if (count == 1) return ACL_JPEG_CSS_GRAY;
  if (count != 3 || components[4] != 0x11 || components[7] != 0x11) return ACL_JPEG_CSS_UNKNOWN;
  switch (components[1]) {
    case 0x11: return ACL_JPEG_CSS_444;
    case 0x21: return ACL_JPEG_CSS_422;
    case 0x22: return ACL_JPEG_CSS_420;
    case 0x12: return ACL_JPEG_CSS_440;
    case 0x41: return ACL_JPEG_CSS_411;
    default: return ACL_JPEG_CSS_UNKNOWN;
  }
}

// `segment` begins behind the marker.
Result<JpegHeader> ReadFrameHeader(int marker, std::span<const uint8_t> segment) {
  if (marker > kProgressive) {
    return Status(StatusCode::kUnsupported, fmt::format("JPEG coding process {:#04x} is not supported", marker));
  }
  JpegHeader header;
  header.progressive = marker == kProgressive;
  if (segment.size() < 8) return Status(StatusCode::kCorruptData, "the JPEG frame header is truncated");
  header.height = Read16(segment, 3);
  header.width = Read16(segment, 5);
  header.components = segment[7];
  if (segment.size() < 8 + 3 * static_cast<size_t>(header.components)) {
    return Status(StatusCode::kCorruptData, "the JPEG frame header is truncated");
  }
  if (header.width == 0 || header.height == 0 || header.components == 0) {
    return Status(StatusCode::kCorruptData, "the JPEG picture is empty");
  }
  header.format = FormatOf(segment.subspan(8), header.components);
  return header;
}

}  // namespace

Result<JpegHeader> ReadJpegHeader(std::span<const uint8_t> data) {
  if (data.size() < 4 || data[0] != 0xff || data[1] != kStartOfImage) {
    return Status(StatusCode::kCorruptData, "the data are not a JPEG picture");
  }
  size_t at = 2;
  while (at + 4 <= data.size()) {
    const int marker = data[at + 1];
    if (data[at] != 0xff) break;
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    if (marker == kStartOfScan || marker == kEndOfImage) break;
    at += 2;
    if (StandsAlone(marker)) continue;
    const size_t length = Read16(data, at);
    if (IsFrameHeader(marker)) return ReadFrameHeader(marker, data.subspan(at, std::min(length, data.size() - at)));
    at += length;
  }
  return Status(StatusCode::kCorruptData, "the JPEG has no frame header");
}

}  // namespace npustream::dvpp
