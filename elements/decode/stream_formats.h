#pragma once

#include <cstdint>
#include <span>

namespace npustream::elements {

// How a codec's caps go with a stream format of the decoder. Values from 0x1000 are codecs beyond those of the cards
// (see dvpp/README.md); on a card opening such a channel fails with the runtime's sentence.
struct StreamFormat {
  const char* caps;  // GStreamer's caps, with the fields that tell codecs apart
  uint32_t format;   // acldvppStreamFormat
  bool codec_data;   // takes the caps' codec_data as a first packet
};

// Every stream format of npuvdec in the order in which it prefers them.
std::span<const StreamFormat> StreamFormats();

}  // namespace npustream::elements
