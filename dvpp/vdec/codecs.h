#pragma once

#include <cstdint>

#include "base/status.h"

extern "C" {
#include <libavcodec/codec.h>
}

namespace npustream::dvpp {

// The first of our own stream formats; see the table in README.md.
inline constexpr uint32_t kFirstOwnStreamFormat = 0x1000;
// The stream format which marks a packet as codec data.
inline constexpr uint32_t kCodecDataFormat = 0x2000;

// The decoder of a value of acldvppStreamFormat or of our extension. kInvalidArgument: no such value; kUnsupported:
// libav was built without it.
Result<const AVCodec*> FindDecoder(uint32_t stream_format);

}  // namespace npustream::dvpp
