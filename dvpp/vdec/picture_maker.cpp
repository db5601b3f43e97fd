#include "dvpp/vdec/picture_maker.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "dvpp/vdec/chroma.h"
#include "dvpp/vdec/frame_allocator.h"

namespace npustream::dvpp {
namespace {

constexpr uint32_t kColourFullRange = 1 << 8;
constexpr uint32_t kColourInterlaced = 1 << 9;
constexpr uint32_t kColourKeyFrame = 1 << 10;
// What libswscale may write behind the last row.
constexpr size_t kSlack = 128;

bool IsRgb(acldvppPixelFormat format) { return format == PIXEL_FORMAT_RGB_888 || format == PIXEL_FORMAT_BGR_888; }

AVPixelFormat LibavFormat(acldvppPixelFormat format) {
  switch (static_cast<int>(format)) {
    case PIXEL_FORMAT_YUV_SEMIPLANAR_420: return AV_PIX_FMT_NV12;
    case PIXEL_FORMAT_YVU_SEMIPLANAR_420: return AV_PIX_FMT_NV21;
    case PIXEL_FORMAT_RGB_888: return AV_PIX_FMT_RGB24;
    case PIXEL_FORMAT_BGR_888: return AV_PIX_FMT_BGR24;
    default: return AV_PIX_FMT_NONE;
  }
}

const AVPixFmtDescriptor& Describe(const AVFrame& frame) {
  return *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
}

// Colour is carried by RGB samples, with or without a palette.
bool SourceIsRgb(const AVFrame& frame) {
  return (Describe(frame).flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER)) != 0;
}

// libav's deprecated names for full range, which is told to libswscale apart from the layout.
bool IsFullRangeLayout(int format) {
  return format == AV_PIX_FMT_YUVJ411P || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P ||
         format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ444P;
}

AVPixelFormat LayoutWithoutRange(int format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ411P: return AV_PIX_FMT_YUV411P;
    case AV_PIX_FMT_YUVJ420P: return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P: return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ440P: return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ444P: return AV_PIX_FMT_YUV444P;
    default: return static_cast<AVPixelFormat>(format);
  }
}

bool IsPicturesCodec(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_BMP:
    case AV_CODEC_ID_GIF:
    case AV_CODEC_ID_JPEG2000:
    case AV_CODEC_ID_PNG:
    case AV_CODEC_ID_PPM:
    case AV_CODEC_ID_TIFF: return true;
    default: return false;
  }
}

// Names the coefficients for libswscale; BT.601 when the stream does not say.
const int* Coefficients(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709: return sws_getCoefficients(SWS_CS_ITU709);
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return sws_getCoefficients(SWS_CS_BT2020);
    case AVCOL_SPC_SMPTE240M: return sws_getCoefficients(SWS_CS_SMPTE240M);
    case AVCOL_SPC_FCC: return sws_getCoefficients(SWS_CS_FCC);
    default: return sws_getCoefficients(SWS_CS_ITU601);
  }
}

void CopyRows(const uint8_t* from, ptrdiff_t from_stride, const PlaneView& into) {
  for (int y = 0; y < into.height; ++y) {
    std::memcpy(into.data + y * into.stride, from + y * from_stride, static_cast<size_t>(into.width) * into.channels);
  }
}

void InterleaveInto(const AVFrame& frame, const PictureView& picture) {
  const AVPixFmtDescriptor& format = Describe(frame);
  PlanarChroma chroma{frame.data[1], frame.data[2], frame.linesize[1], frame.linesize[2],
                      format.log2_chroma_w, format.log2_chroma_h, frame.width, frame.height};
  if (format.nb_components == 1) chroma.u = nullptr;
  if (picture.format == PIXEL_FORMAT_YVU_SEMIPLANAR_420) {
    std::swap(chroma.u, chroma.v);
    std::swap(chroma.u_stride, chroma.v_stride);
  }
  InterleaveChroma(chroma, picture.Plane(1));
}

}  // namespace

PictureMaker::PictureMaker(acldvppPixelFormat format, AVCodecID codec, std::shared_ptr<FramePool> pool)
    : format_(format), codec_(codec), pool_(std::move(pool)) {}

PictureMaker::~PictureMaker() { sws_freeContext(scaler_); }

bool PictureMaker::Supports(acldvppPixelFormat format) { return LibavFormat(format) != AV_PIX_FMT_NONE; }

Result<DecodedPicture> PictureMaker::Make(AVFrame& frame) {
  const uint32_t colour = Colour(frame);
  if (av_frame_apply_cropping(&frame, AV_FRAME_CROP_UNALIGNED) < 0 || frame.width <= 0 || frame.height <= 0) {
    return Status(StatusCode::kCorruptData, "the crop is larger than the picture");
  }
  const bool planes_fit = HasNv12Luma(frame.format) && !IsRgb(format_);
  const FrameMemory* memory = planes_fit ? MemoryOf(frame) : nullptr;
  const bool in_place = memory != nullptr && frame.linesize[0] > 0 && (frame.data[0] - memory->block.host) % 2 == 0;
  Result<DecodedPicture> picture = in_place     ? FinishInPlace(frame, *memory)
                                   : planes_fit ? CopyPlanes(frame)
                                                : Scale(frame);
  if (picture.ok()) picture->colour = colour;
  return picture;
}

Result<DecodedPicture> PictureMaker::FinishInPlace(const AVFrame& frame, const FrameMemory& memory) const {
  const size_t stride = frame.linesize[0];
  const size_t offset = frame.data[0] - memory.block.host;
  // The pairs begin behind everything that the decoder may still refer to.
  const size_t rows = (memory.luma_bytes - offset + stride - 1) / stride;
  const size_t height_stride = (rows + 1) & ~size_t{1};
  DecodedPicture picture;
  picture.view = {frame.data[0], frame.width, frame.height, static_cast<int>(stride),
                  static_cast<int>(height_stride), format_};
  picture.bytes = PictureBytes(format_, picture.view.stride, picture.view.height_stride);
  picture.device = static_cast<char*>(memory.block.device) + offset;
  picture.keep.reset(av_buffer_ref(frame.buf[0]));
  if (picture.keep == nullptr) return Status(StatusCode::kResourceExhausted, "no host memory for a reference");
  InterleaveInto(frame, picture.view);
  return picture;
}

Result<DecodedPicture> PictureMaker::NewPicture(int width, int height) const {
  DecodedPicture picture;
  picture.view = {nullptr, width, height, (LeastStride(format_, width) + 63) & ~63, (height + 1) & ~1, format_};
  picture.bytes = PictureBytes(format_, picture.view.stride, picture.view.height_stride);
  NPUSTREAM_ASSIGN_OR_RETURN(const std::shared_ptr<FrameMemory> memory, pool_->Take(picture.bytes + kSlack, 0));
  picture.view.data = memory->block.host;
  picture.device = memory->block.device;
  picture.keep = ReferTo(memory, memory->block.host, memory->block.bytes);
  if (picture.keep == nullptr) return Status(StatusCode::kResourceExhausted, "no host memory for a reference");
  return picture;
}

Result<DecodedPicture> PictureMaker::CopyPlanes(const AVFrame& frame) const {
  NPUSTREAM_ASSIGN_OR_RETURN(DecodedPicture picture, NewPicture(frame.width, frame.height));
  CopyRows(frame.data[0], frame.linesize[0], picture.view.Plane(0));
  InterleaveInto(frame, picture.view);
  return picture;
}

Result<DecodedPicture> PictureMaker::Scale(const AVFrame& frame) {
  // Bilinear with centred chroma and accurate rounding is what JPEG libraries do when they upsample; see the tests.
  constexpr int kFlags = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
  scaler_ = sws_getCachedContext(scaler_, frame.width, frame.height, LayoutWithoutRange(frame.format),
                                 frame.width, frame.height, LibavFormat(format_), kFlags, nullptr, nullptr, nullptr);
  if (scaler_ == nullptr) {
    return Status(StatusCode::kUnsupported, fmt::format("no conversion from {}", Describe(frame).name));
  }
  // From YUV to YUV samples keep their meaning; RGB becomes narrow BT.601.
  const int source_full = SourceIsRgb(frame) || FullRange(frame);
  const int target_full = IsRgb(format_) || (!SourceIsRgb(frame) && source_full);
  const int* source = Coefficients(frame.colorspace);
  const int* target = SourceIsRgb(frame) ? sws_getCoefficients(SWS_CS_ITU601) : source;
  (void)sws_setColorspaceDetails(scaler_, source, source_full, target, target_full, 0, 1 << 16, 1 << 16);
  NPUSTREAM_ASSIGN_OR_RETURN(DecodedPicture picture, NewPicture(frame.width, frame.height));
  uint8_t* planes[4] = {picture.view.data, nullptr, nullptr, nullptr};
  const int strides[4] = {picture.view.stride, picture.view.stride, 0, 0};
  if (!IsRgb(format_)) planes[1] = picture.view.Plane(1).data;
  if (sws_scale(scaler_, frame.data, frame.linesize, 0, frame.height, planes, strides) != frame.height) {
    return Status(StatusCode::kInternal, "the conversion stopped early");
  }
  return picture;
}

bool PictureMaker::FullRange(const AVFrame& frame) const {
  if (frame.color_range != AVCOL_RANGE_UNSPECIFIED) return frame.color_range == AVCOL_RANGE_JPEG;
  if (IsFullRangeLayout(frame.format)) return true;
  // Grey pictures use all values; monochrome video does not.
  return Describe(frame).nb_components <= 2 && IsPicturesCodec(codec_);
}

uint32_t PictureMaker::Colour(const AVFrame& frame) const {
  uint32_t colour = frame.colorspace;
  if (IsRgb(format_)) {
    colour = AVCOL_SPC_RGB | kColourFullRange;
  } else if (SourceIsRgb(frame)) {
    colour = AVCOL_SPC_SMPTE170M;
  } else if (FullRange(frame)) {
    colour |= kColourFullRange;
  }
  if (frame.interlaced_frame) colour |= kColourInterlaced;
  if (frame.key_frame) colour |= kColourKeyFrame;
  return colour;
}

}  // namespace npustream::dvpp
