#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gst/video/gstvideodecoder.h>

#include "elements/decode/gst_vdec_properties.h"
#include "elements/decode/npu_vdec.h"
#include "elements/decode/stream_formats.h"

namespace npustream::elements {

// How npuvdec goes between GStreamer's caps and buffers and the decoder's terms.

// What a channel was opened for; another one is needed when this changes.
struct ChannelKey {
  const StreamFormat* format = nullptr;
  std::vector<std::byte> codec_data;
  int width = 0;
  int height = 0;
  bool operator==(const ChannelKey&) const = default;
};

// Everything that can be decoded; a new reference.
GstCaps* VdecSinkCaps();
// The first stream format that fits; null when none does.
const StreamFormat* StreamFormatOf(const GstCaps* caps);
ChannelKey ChannelKeyOf(const StreamFormat& format, const GstVideoCodecState& input);

// What the device decodes to. For kAuto the first format that the pad's peer takes, NV12 when it has no preference.
acldvppPixelFormat ChoosePixelFormat(OutputFormat wanted, GstPad* src_pad);
// Fills in the colorimetry and puts the caps into device memory. The state has its format and size.
void SetOutputCaps(GstVideoCodecState& output, const PictureColors& colors);

// UTC of the buffer's capture in nanoseconds since 1970, from the timestamps that a source has put on it; −1 without.
int64_t CaptureTimeOf(GstBuffer* buffer);

}  // namespace npustream::elements
