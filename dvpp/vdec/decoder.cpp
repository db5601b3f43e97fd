#include "dvpp/vdec/decoder.h"

#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dvpp/vdec/codecs.h"
#include "dvpp/vdec/frame_allocator.h"

namespace npustream::dvpp {
namespace {

// The largest picture: VPC takes no larger one either.
constexpr int64_t kMaxPixels = int64_t{8192} * 8192;
// Pictures which a decoder may hold back in H.264 and H.265 (16), as fields, and the two being worked on.
constexpr int kLongestDelay = 2 * 16 + 2;
// Packets at the start of an H.264 stream within which the need for reordering must show.
constexpr int kProbedPackets = 32;
// Errors in a row while reading pictures out of one packet, after which the rest of it is given up.
constexpr int kMaxErrors = 64;

std::string LibavMessage(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

bool IsDamaged(const AVFrame& frame) {
  return frame.decode_error_flags != 0 || (frame.flags & (AV_FRAME_FLAG_CORRUPT | AV_FRAME_FLAG_DISCARD)) != 0;
}

}  // namespace

Result<std::unique_ptr<Decoder>> Decoder::Create(const DecoderOptions& options, std::shared_ptr<FramePool> pool) {
  NPUSTREAM_ASSIGN_OR_RETURN(const AVCodec* codec, FindDecoder(options.stream_format));
  if (!PictureMaker::Supports(options.output)) {
    return Status(StatusCode::kUnsupported, fmt::format("pictures of format {} cannot be decoded to", +options.output));
  }
  std::unique_ptr<Decoder> decoder(new Decoder(options, codec, std::move(pool)));
  if (decoder->frame_ == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a frame");
  return decoder;
}

Decoder::Decoder(const DecoderOptions& options, const AVCodec* codec, std::shared_ptr<FramePool> pool)
    : options_(options), codec_(codec), pool_(pool), maker_(options.output, codec->id, std::move(pool)),
      frame_(av_frame_alloc()) {}

void Decoder::SetCodecData(std::span<const uint8_t> data) {
  codec_data_.assign(data.begin(), data.end());
  context_.reset();
  probed_ = false;
}

Status Decoder::Open() {
  AvContext context(avcodec_alloc_context3(codec_));
  if (context == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a decoder");
  context->thread_count = 1;
  context->thread_type = 0;
  context->log_level_offset = AV_LOG_TRACE;  // damage is reported per packet; libav's own lines would flood stderr
  context->width = options_.width;
  context->height = options_.height;
  context->max_pixels = kMaxPixels;
  context->apply_cropping = 0;  // libav would round the offset to what its own filters like
  // A packet with errors is refused at once. (Asking for corrupt output as well would mark pictures as recovered.)
  // TIFF's decoder would also refuse tags it does not know, which readers have to skip (TIFF 6.0, section 7).
  context->err_recognition = codec_->id == AV_CODEC_ID_TIFF ? 0 : AV_EF_EXPLODE;
  if (!codec_data_.empty()) {
    context->extradata = static_cast<uint8_t*>(av_mallocz(codec_data_.size() + AV_INPUT_BUFFER_PADDING_SIZE));
    if (context->extradata == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for codec data");
    std::memcpy(context->extradata, codec_data_.data(), codec_data_.size());
    context->extradata_size = static_cast<int>(codec_data_.size());
  }
  const bool direct = options_.output == PIXEL_FORMAT_YUV_SEMIPLANAR_420 ||
                      options_.output == PIXEL_FORMAT_YVU_SEMIPLANAR_420;
  if (direct && (codec_->capabilities & AV_CODEC_CAP_DR1) != 0) DecodeInto(pool_.get(), context.get());
  const int error = avcodec_open2(context.get(), codec_, nullptr);
  if (error < 0) {
    return Status(StatusCode::kCorruptData,
                  fmt::format("the {} decoder does not open: {}", codec_->name, LibavMessage(error)));
  }
  context_ = std::move(context);
  return {};
}

Status Decoder::Decode(int64_t sequence, AVPacket& packet, const Sink& sink) {
  if (context_ == nullptr) NPUSTREAM_RETURN_IF_ERROR(Open());
  packet.pts = sequence;
  packet.dts = AV_NOPTS_VALUE;
  if (!Probing()) return Feed(packet, sink);
  const Sink hold = [this, &sink](int64_t number, Result<DecodedPicture> picture) {
    ReleaseHeld(sink);
    held_ = Held{number, std::move(picture)};
  };
  early_.emplace_back(av_packet_clone(&packet));
  int depth = context_->has_b_frames;
  Status status = Feed(packet, hold);
  while (early_.size() > 1 && context_->has_b_frames > depth) {
    depth = context_->has_b_frames;
    status = StartAgain(hold);
  }
  if (!Probing()) EndProbing(sink);
  return status;
}

// libav learns how deep an H.264 stream without that information reorders by dropping pictures that come too late. With
// the packets since the start at hand, they are decoded again at the new depth, and as the newest picture is held back
// by one packet meanwhile, none has left too early.
bool Decoder::Probing() const {
  return codec_->id == AV_CODEC_ID_H264 && early_.size() < kProbedPackets && !probed_ &&
         (context_->profile & ~FF_PROFILE_H264_CONSTRAINED) != FF_PROFILE_H264_BASELINE;
}

Status Decoder::StartAgain(const Sink& hold) {
  held_.reset();
  avcodec_flush_buffers(context_.get());
  Status last;
  for (const AvPacket& packet : early_) last = Feed(*packet, hold);
  return last;
}

void Decoder::ReleaseHeld(const Sink& sink) {
  if (!held_) return;
  Held held = std::move(*held_);
  held_.reset();
  sink(held.sequence, std::move(held.picture));
}

void Decoder::EndProbing(const Sink& sink) {
  probed_ = true;
  early_.clear();
  ReleaseHeld(sink);
}

Status Decoder::Feed(AVPacket& packet, const Sink& sink) {
  const int error = avcodec_send_packet(context_.get(), &packet);
  const Status received = Receive(packet.pts, sink);
  if (error < 0) {
    return Status(StatusCode::kCorruptData, fmt::format("{}: {}", codec_->name, LibavMessage(error)));
  }
  return received;
}

Status Decoder::Receive(int64_t sequence, const Sink& sink) {
  Status first;
  for (int errors = 0; errors < kMaxErrors;) {
    const int result = avcodec_receive_frame(context_.get(), frame_.get());
    if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) break;
    if (result < 0) {
      ++errors;
      if (first.ok()) {
        first = Status(StatusCode::kCorruptData, fmt::format("{}: {}", codec_->name, LibavMessage(result)));
      }
      continue;
    }
    Emit(frame_->pts == AV_NOPTS_VALUE ? sequence : frame_->pts, sink);
    av_frame_unref(frame_.get());
  }
  return first;
}

void Decoder::Emit(int64_t sequence, const Sink& sink) {
  if (IsDamaged(*frame_)) {
    sink(sequence, Status(StatusCode::kCorruptData, fmt::format("{}: the picture is damaged", codec_->name)));
    return;
  }
  sink(sequence, maker_.Make(*frame_));
}

void Decoder::Drain(const Sink& sink) {
  if (context_ == nullptr) return;
  EndProbing(sink);
  if (avcodec_send_packet(context_.get(), nullptr) >= 0) (void)Receive(AV_NOPTS_VALUE, sink);
  avcodec_flush_buffers(context_.get());
  probed_ = false;
}

int Decoder::LongestDelay() const {
  if ((codec_->capabilities & AV_CODEC_CAP_DELAY) == 0) return 0;
  if (context_ == nullptr || held_ || codec_->id == AV_CODEC_ID_AV1) return kLongestDelay;
  return context_->has_b_frames == 0 ? 0 : kLongestDelay;
}

}  // namespace npustream::dvpp
