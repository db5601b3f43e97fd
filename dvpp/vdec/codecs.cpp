#include "dvpp/vdec/codecs.h"

#include <iterator>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <fmt/format.h>

namespace npustream::dvpp {
namespace {

constexpr AVCodecID kVendorFormats[] = {AV_CODEC_ID_HEVC, AV_CODEC_ID_H264, AV_CODEC_ID_H264, AV_CODEC_ID_H264};

// 0x1000 + position. The values are public: append only.
constexpr AVCodecID kOwnFormats[] = {
    AV_CODEC_ID_H264,       AV_CODEC_ID_HEVC,       AV_CODEC_ID_MJPEG,  AV_CODEC_ID_PNG,    AV_CODEC_ID_MPEG4,
    AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_VP8,        AV_CODEC_ID_VP9,    AV_CODEC_ID_AV1,    AV_CODEC_ID_BMP,
    AV_CODEC_ID_WEBP,       AV_CODEC_ID_GIF,        AV_CODEC_ID_TIFF,   AV_CODEC_ID_H263,   AV_CODEC_ID_MPEG1VIDEO,
    AV_CODEC_ID_MSMPEG4V3,  AV_CODEC_ID_WMV3,       AV_CODEC_ID_VC1,    AV_CODEC_ID_FLV1,   AV_CODEC_ID_THEORA,
    AV_CODEC_ID_PRORES,     AV_CODEC_ID_DNXHD,      AV_CODEC_ID_JPEG2000, AV_CODEC_ID_PPM,
};

AVCodecID CodecId(uint32_t stream_format) {
  if (stream_format < std::size(kVendorFormats)) return kVendorFormats[stream_format];
  const uint32_t own = stream_format - kFirstOwnStreamFormat;
  if (stream_format >= kFirstOwnStreamFormat && own < std::size(kOwnFormats)) return kOwnFormats[own];
  return AV_CODEC_ID_NONE;
}

}  // namespace

Result<const AVCodec*> FindDecoder(uint32_t stream_format) {
  const AVCodecID id = CodecId(stream_format);
  if (id == AV_CODEC_ID_NONE) {
    return Status(StatusCode::kInvalidArgument, fmt::format("there is no stream format {:#x}", stream_format));
  }
  const AVCodec* codec = avcodec_find_decoder(id);
  if (codec == nullptr) {
    return Status(StatusCode::kUnsupported, fmt::format("this libavcodec does not decode {}", avcodec_get_name(id)));
  }
  return codec;
}

}  // namespace npustream::dvpp
