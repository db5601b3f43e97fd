#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "dvpp/jpegd/jpeg_header.h"
#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

// The semi-planar format, or grey, that keeps a JPEG's chroma as it is; PIXEL_FORMAT_UNKNOWN when there is none.
acldvppPixelFormat NativeFormat(acldvppJpegFormat format);
// True when a JPEG of `source` can be decoded to `target`: its native format (with either order of chroma), 420 and RGB
// or BGR 888.
bool CanDecodeTo(acldvppJpegFormat source, acldvppPixelFormat target);

// Decodes a baseline JPEG into `target`, whose size must be the picture's; samples keep their full range, grey gets
// chroma 128. kCorruptData: damaged; kUnsupported: progressive, or a target it cannot be decoded to.
Status DecodeJpeg(std::span<const uint8_t> data, const PictureView& target);

}  // namespace npustream::dvpp
