#include "elements/decode/gst_vdec_caps.h"

#include "elements/memory/gst_npu_memory.h"
#include "elements/support/gst_support.h"

namespace npustream::elements {
namespace {

GstVideoColorMatrix MatrixOf(int h273_matrix, GstVideoColorMatrix otherwise) {
  switch (h273_matrix) {
    case 1: return GST_VIDEO_COLOR_MATRIX_BT709;
    case 5:
    case 6: return GST_VIDEO_COLOR_MATRIX_BT601;
    case 9: return GST_VIDEO_COLOR_MATRIX_BT2020;
    default: return otherwise;
  }
}

}  // namespace

GstCaps* VdecSinkCaps() {
  GstCaps* caps = gst_caps_new_empty();
  for (const StreamFormat& format : StreamFormats()) gst_caps_append(caps, gst_caps_from_string(format.caps));
  return caps;
}

const StreamFormat* StreamFormatOf(const GstCaps* caps) {
  for (const StreamFormat& format : StreamFormats()) {
    const UniqueCaps own(gst_caps_from_string(format.caps));
    if (gst_caps_can_intersect(caps, own.get())) return &format;
  }
  return nullptr;
}

ChannelKey ChannelKeyOf(const StreamFormat& format, const GstVideoCodecState& input) {
  ChannelKey key{&format, {}, 0, 0};
  if (input.codec_data != nullptr && format.codec_data) {
    GstMapInfo map;
    if (gst_buffer_map(input.codec_data, &map, GST_MAP_READ)) {
      const auto* data = reinterpret_cast<const std::byte*>(map.data);
      key.codec_data.assign(data, data + map.size);
      gst_buffer_unmap(input.codec_data, &map);
    }
  }
  const bool size_in_stream = format.format < 0x1002;  // H.264 and H.265 change size in mid-stream
  if (!size_in_stream) {
    key.width = GST_VIDEO_INFO_WIDTH(&input.info);
    key.height = GST_VIDEO_INFO_HEIGHT(&input.info);
  }
  return key;
}

acldvppPixelFormat ChoosePixelFormat(OutputFormat wanted, GstPad* src_pad) {
  switch (wanted) {
    case OutputFormat::kNv12: return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    case OutputFormat::kRgb: return PIXEL_FORMAT_RGB_888;
    case OutputFormat::kBgr: return PIXEL_FORMAT_BGR_888;
    case OutputFormat::kAuto: break;
  }
  const UniqueCaps allowed(gst_pad_get_allowed_caps(src_pad));
  if (allowed == nullptr || gst_caps_is_empty(allowed.get()) || gst_caps_is_any(allowed.get())) {
    return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  }
  const UniqueCaps first(gst_caps_fixate(gst_caps_copy(allowed.get())));
  const gchar* name = gst_structure_get_string(gst_caps_get_structure(first.get(), 0), "format");
  const GstVideoFormat format = name == nullptr ? GST_VIDEO_FORMAT_NV12 : gst_video_format_from_string(name);
  const acldvppPixelFormat chosen = PixelFormatOf(format);
  return chosen == PIXEL_FORMAT_UNKNOWN ? PIXEL_FORMAT_YUV_SEMIPLANAR_420 : chosen;
}

void SetOutputCaps(GstVideoCodecState& output, const PictureColors& colors) {
  GstVideoInfo& info = output.info;
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&info);
  if (info.colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN) {
    // The packets' caps did not say: what the size suggests.
    GstVideoInfo usual;
    gst_video_info_set_format(&usual, format, GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
    info.colorimetry = usual.colorimetry;
  }
  if (format == GST_VIDEO_FORMAT_NV12) {
    info.colorimetry.range = colors.full_range ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
    info.colorimetry.matrix = MatrixOf(colors.matrix, info.colorimetry.matrix);
  } else {
    gst_video_colorimetry_from_string(&info.colorimetry, GST_VIDEO_COLORIMETRY_SRGB);
  }
  gst_caps_replace(&output.caps, nullptr);
  output.caps = gst_video_info_to_caps(&info);
  gst_caps_set_features_simple(output.caps, gst_caps_features_new(NPUSTREAM_CAPS_FEATURE_MEMORY, nullptr));
}

int64_t CaptureTimeOf(GstBuffer* buffer) {
  constexpr int64_t kNtpToUnixNs = 2208988800LL * GST_SECOND;
  static GstCaps* const unix_time = gst_caps_new_empty_simple("timestamp/x-unix");
  static GstCaps* const ntp_time = gst_caps_new_empty_simple("timestamp/x-ntp");
  if (const auto* meta = gst_buffer_get_reference_timestamp_meta(buffer, unix_time)) {
    return static_cast<int64_t>(meta->timestamp);
  }
  if (const auto* meta = gst_buffer_get_reference_timestamp_meta(buffer, ntp_time)) {
    return static_cast<int64_t>(meta->timestamp) - kNtpToUnixNs;
  }
  return -1;
}

}  // namespace npustream::elements
