#include "dvpp/jpegd/jpeg_decode.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "dvpp/picture/copy.h"
#include "dvpp/vdec/chroma_row.h"
#include "dvpp/vdec/codecs.h"
#include "dvpp/vdec/frame_allocator.h"
#include "dvpp/vdec/frame_pool.h"
#include "dvpp/vdec/libav.h"
#include "dvpp/vdec/picture_maker.h"

namespace npustream::dvpp {
namespace {

constexpr uint32_t kMotionJpeg = 0x1002;

class HeapBlocks : public BlockSource {
 public:
  Result<Block> Allocate(size_t bytes) override {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a picture");
    return Block{static_cast<uint8_t*>(memory), memory, bytes};
  }
  void Free(const Block& block) override { std::free(block.host); }
};

bool ChromaIsReversed(acldvppPixelFormat format) {
  return format == PIXEL_FORMAT_YVU_SEMIPLANAR_422 || format == PIXEL_FORMAT_YVU_SEMIPLANAR_440 ||
         format == PIXEL_FORMAT_YVU_SEMIPLANAR_444;
}

Result<AvFrame> DecodeFrame(std::span<const uint8_t> data) {
  NPUSTREAM_ASSIGN_OR_RETURN(const AVCodec* codec, FindDecoder(kMotionJpeg));
  AvContext context(avcodec_alloc_context3(codec));
  AvPacket packet(av_packet_alloc());
  AvFrame frame(av_frame_alloc());
  if (context == nullptr || packet == nullptr || frame == nullptr ||
      av_new_packet(packet.get(), static_cast<int>(data.size())) < 0) {
    return Status(StatusCode::kResourceExhausted, "no memory to decode a JPEG");
  }
  std::memcpy(packet->data, data.data(), data.size());
  context->thread_count = 1;
  context->err_recognition = AV_EF_EXPLODE;
  context->log_level_offset = AV_LOG_TRACE;
  if (avcodec_open2(context.get(), codec, nullptr) < 0 || avcodec_send_packet(context.get(), packet.get()) < 0 ||
      avcodec_receive_frame(context.get(), frame.get()) < 0 || frame->decode_error_flags != 0) {
    return Status(StatusCode::kCorruptData, "the JPEG is damaged");
  }
  return frame;
}

// Planes to semi-planar, sample by sample.
void WriteNative(const AVFrame& frame, const PictureView& target) {
  const PlaneView luma = target.Plane(0);
  for (int y = 0; y < luma.height; ++y) {
    std::memcpy(luma.data + y * luma.stride, frame.data[0] + y * frame.linesize[0], luma.width);
  }
  if (LayoutOf(target.format).planes == 1) return;
  const PlaneView pairs = target.Plane(1);
  const int first = ChromaIsReversed(target.format) ? 2 : 1;
  const int second = 3 - first;
  for (int y = 0; y < pairs.height; ++y) {
    InterleaveRow(frame.data[first] + y * frame.linesize[first], frame.data[second] + y * frame.linesize[second],
                  pairs.width, pairs.data + y * pairs.stride);
  }
}

}  // namespace

acldvppPixelFormat NativeFormat(acldvppJpegFormat format) {
  switch (format) {
    case ACL_JPEG_CSS_444: return PIXEL_FORMAT_YUV_SEMIPLANAR_444;
    case ACL_JPEG_CSS_422: return PIXEL_FORMAT_YUV_SEMIPLANAR_422;
    case ACL_JPEG_CSS_420: return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    case ACL_JPEG_CSS_GRAY: return PIXEL_FORMAT_YUV_400;
    case ACL_JPEG_CSS_440: return PIXEL_FORMAT_YUV_SEMIPLANAR_440;
    default: return PIXEL_FORMAT_UNKNOWN;
  }
}

bool CanDecodeTo(acldvppJpegFormat source, acldvppPixelFormat target) {
  if (PictureMaker::Supports(target)) return true;
  const acldvppPixelFormat native = NativeFormat(source);
  // Each semi-planar format is followed by the one with V first.
  return native == target ||
         (native != PIXEL_FORMAT_YUV_400 && native != PIXEL_FORMAT_UNKNOWN && native + 1 == +target);
}

Status DecodeJpeg(std::span<const uint8_t> data, const PictureView& target) {
  NPUSTREAM_ASSIGN_OR_RETURN(const JpegHeader header, ReadJpegHeader(data));
  if (header.progressive) return Status(StatusCode::kUnsupported, "progressive JPEG is not supported");
  if (!CanDecodeTo(header.format, target.format)) {
    return Status(StatusCode::kUnsupported, "the JPEG's chroma cannot be brought to the output's format");
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const AvFrame frame, DecodeFrame(data));
  if (frame->width != target.width || frame->height != target.height) {
    return Status(StatusCode::kCorruptData, "the JPEG's picture has another size than its header says");
  }
  if (!PictureMaker::Supports(target.format)) {
    if (!HasNv12Luma(frame->format)) return Status(StatusCode::kUnsupported, "the JPEG is not 8-bit YUV");
    WriteNative(*frame, target);
    return {};
  }
  PictureMaker maker(target.format, AV_CODEC_ID_MJPEG, FramePool::Create(std::make_shared<HeapBlocks>()));
  NPUSTREAM_ASSIGN_OR_RETURN(const DecodedPicture picture, maker.Make(*frame));
  CopyPicture(picture.view, target);
  return {};
}

}  // namespace npustream::dvpp
