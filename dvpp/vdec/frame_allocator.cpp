#include "dvpp/vdec/frame_allocator.h"

#include <algorithm>
#include <utility>

namespace npustream::dvpp {
namespace {

// AVFrame.opaque of the frames whose buffer is ours.
const char kOurFrame = 0;
// What decoders may read or write beyond a plane.
constexpr size_t kSlack = 128;

constexpr size_t AlignUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

struct Geometry {
  size_t stride = 0;         // of luma
  size_t chroma_stride = 0;  // of each planar chroma plane
  size_t chroma_bytes = 0;
  size_t luma_bytes = 0;
  size_t block_bytes = 0;
};

Geometry GeometryOf(AVCodecContext* context, const AVFrame& frame, const AVPixFmtDescriptor& format) {
  int width = frame.width;
  int height = frame.height;
  int alignments[AV_NUM_DATA_POINTERS] = {};
  avcodec_align_dimensions2(context, &width, &height, alignments);
  const size_t alignment = std::max({64, alignments[0], alignments[1], alignments[2]});
  Geometry geometry;
  // Chroma strides must keep the proportion to luma's and be aligned themselves.
  geometry.stride = AlignUp(width, alignment << format.log2_chroma_w);
  geometry.chroma_stride = geometry.stride >> format.log2_chroma_w;
  geometry.luma_bytes = geometry.stride * height;
  const size_t chroma_rows = -(-height >> format.log2_chroma_h);
  geometry.chroma_bytes = format.nb_components == 1 ? 0 : AlignUp(geometry.chroma_stride * chroma_rows + kSlack, 64);
  // More rows than the pairs need, as a crop or an edge shifts their start and the height stride is even.
  geometry.block_bytes = geometry.luma_bytes + geometry.stride * (height / 2 + 4) + kSlack;
  return geometry;
}

void ReleaseMemory(void* opaque, uint8_t*) { delete static_cast<std::shared_ptr<FrameMemory>*>(opaque); }

// 0, or a negative AVERROR.
int GiveBuffer(AVCodecContext* context, AVFrame* frame, const AVPixFmtDescriptor& format) {
  const Geometry geometry = GeometryOf(context, *frame, format);
  const size_t side_bytes = geometry.chroma_bytes == 0 ? 0 : 2 * geometry.chroma_bytes + 64;
  Result<std::shared_ptr<FrameMemory>> taken =
      static_cast<FramePool*>(context->opaque)->Take(geometry.block_bytes, side_bytes);
  if (!taken.ok()) return AVERROR(ENOMEM);
  const std::shared_ptr<FrameMemory> memory = std::move(taken).value();
  memory->luma_bytes = geometry.luma_bytes;
  frame->buf[0] = ReferTo(memory, memory->block.host, memory->block.bytes).release();
  if (frame->buf[0] == nullptr) return AVERROR(ENOMEM);
  frame->data[0] = memory->block.host;
  frame->linesize[0] = static_cast<int>(geometry.stride);
  if (side_bytes != 0) {
    frame->buf[1] = ReferTo(memory, memory->side.get(), side_bytes).release();
    if (frame->buf[1] == nullptr) return AVERROR(ENOMEM);
    const uintptr_t start = AlignUp(reinterpret_cast<uintptr_t>(memory->side.get()), 64);
    for (int plane = 1; plane <= 2; ++plane) {
      frame->data[plane] = reinterpret_cast<uint8_t*>(start + (plane - 1) * geometry.chroma_bytes);
      frame->linesize[plane] = static_cast<int>(geometry.chroma_stride);
    }
  }
  frame->extended_data = frame->data;
  frame->opaque = const_cast<char*>(&kOurFrame);
  return 0;
}

int GetBuffer(AVCodecContext* context, AVFrame* frame, int flags) {
  if (!HasNv12Luma(frame->format)) return avcodec_default_get_buffer2(context, frame, flags);
  const int error = GiveBuffer(context, frame, *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format)));
  if (error != 0) {
    av_buffer_unref(&frame->buf[0]);
    av_buffer_unref(&frame->buf[1]);
  }
  return error;
}

}  // namespace

bool HasNv12Luma(int pixel_format) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(pixel_format));
  constexpr uint64_t kOther = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL |
                              AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_BAYER |
                              AV_PIX_FMT_FLAG_FLOAT;
  if (format == nullptr || (format->flags & kOther) != 0) return false;
  if (format->nb_components != 1 && format->nb_components != 3) return false;
  if (format->log2_chroma_w > 2 || format->log2_chroma_h > 2) return false;
  for (int c = 0; c < format->nb_components; ++c) {
    const AVComponentDescriptor& component = format->comp[c];
    if (component.depth != 8 || component.step != 1 || component.plane != c || component.shift != 0) return false;
  }
  return true;
}

void DecodeInto(FramePool* pool, AVCodecContext* context) {
  context->opaque = pool;
  context->get_buffer2 = GetBuffer;
}

const FrameMemory* MemoryOf(const AVFrame& frame) {
  if (frame.opaque != &kOurFrame || frame.buf[0] == nullptr) return nullptr;
  return static_cast<std::shared_ptr<FrameMemory>*>(av_buffer_get_opaque(frame.buf[0]))->get();
}

AvBuffer ReferTo(std::shared_ptr<FrameMemory> memory, uint8_t* data, size_t bytes) {
  auto keep = std::make_unique<std::shared_ptr<FrameMemory>>(std::move(memory));
  AvBuffer buffer(av_buffer_create(data, bytes, ReleaseMemory, keep.get(), 0));
  if (buffer != nullptr) keep.release();
  return buffer;
}

}  // namespace npustream::dvpp
