#include "tests/dvpp/vdec/media_file.h"

#include <cstring>
#include <utility>

#include "dvpp/vdec/codecs.h"

namespace npustream::dvpp {

MediaFile::MediaFile(MediaFile&& other) noexcept
    : parameters(std::exchange(other.parameters, nullptr)), packets(std::move(other.packets)) {}

MediaFile::~MediaFile() { avcodec_parameters_free(&parameters); }

std::optional<MediaFile> MediaFile::Read(const std::filesystem::path& path) {
  AVFormatContext* input = nullptr;
  if (avformat_open_input(&input, path.c_str(), nullptr, nullptr) < 0) return std::nullopt;
  (void)avformat_find_stream_info(input, nullptr);
  const int video = av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  std::optional<MediaFile> file;
  if (video >= 0) {
    file.emplace();
    file->parameters = avcodec_parameters_alloc();
    avcodec_parameters_copy(file->parameters, input->streams[video]->codecpar);
    for (AvPacket packet(av_packet_alloc()); av_read_frame(input, packet.get()) >= 0;) {
      if (packet->stream_index == video) {
        file->packets.emplace_back(av_packet_clone(packet.get()));
      }
      av_packet_unref(packet.get());
    }
  }
  avformat_close_input(&input);
  return file;
}

std::vector<uint8_t> MediaFile::codec_data() const {
  return {parameters->extradata, parameters->extradata + parameters->extradata_size};
}

std::optional<uint32_t> MediaFile::stream_format() const {
  for (uint32_t format = kFirstOwnStreamFormat; format < kFirstOwnStreamFormat + 0x100; ++format) {
    const Result<const AVCodec*> codec = FindDecoder(format);
    if (codec.ok() && codec.value()->id == parameters->codec_id) return format;
  }
  return std::nullopt;
}

namespace {

void AppendPlanes(const AVFrame& frame, ReferenceFrame& into) {
  for (int y = 0; y < frame.height; ++y) {
    const uint8_t* row = frame.data[0] + y * frame.linesize[0];
    into.luma.insert(into.luma.end(), row, row + frame.width);
  }
  if (frame.format != AV_PIX_FMT_YUV420P && frame.format != AV_PIX_FMT_YUVJ420P) return;
  for (int y = 0; y < (frame.height + 1) / 2; ++y) {
    for (int x = 0; x < (frame.width + 1) / 2; ++x) {
      into.pairs.push_back(frame.data[1][y * frame.linesize[1] + x]);
      into.pairs.push_back(frame.data[2][y * frame.linesize[2] + x]);
    }
  }
}

void ReceiveAll(AVCodecContext* context, AVFrame* frame, std::vector<ReferenceFrame>& frames) {
  for (int errors = 0; errors < 100;) {
    const int result = avcodec_receive_frame(context, frame);
    if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
    if (result < 0) {
      ++errors;
      continue;
    }
    ReferenceFrame reference{frame->pts, frame->width, frame->height, frame->format,
                             frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0, {}, {}};
    AppendPlanes(*frame, reference);
    frames.push_back(std::move(reference));
  }
}

}  // namespace

std::vector<ReferenceFrame> DecodeWithLibav(const MediaFile& file) {
  AvContext context(avcodec_alloc_context3(avcodec_find_decoder(file.parameters->codec_id)));
  avcodec_parameters_to_context(context.get(), file.parameters);
  context->thread_count = 1;
  context->err_recognition = AV_EF_EXPLODE;
  context->flags |= AV_CODEC_FLAG_UNALIGNED;  // exact cropping
  std::vector<ReferenceFrame> frames;
  if (avcodec_open2(context.get(), nullptr, nullptr) < 0) return frames;
  AvFrame frame(av_frame_alloc());
  int64_t number = 0;
  for (const AvPacket& original : file.packets) {
    AvPacket packet(av_packet_clone(original.get()));
    packet->pts = number++;
    packet->dts = AV_NOPTS_VALUE;
    packet->flags &= ~AV_PKT_FLAG_DISCARD;  // an edit list's wish, not the stream's
    (void)avcodec_send_packet(context.get(), packet.get());
    ReceiveAll(context.get(), frame.get(), frames);
  }
  (void)avcodec_send_packet(context.get(), nullptr);
  ReceiveAll(context.get(), frame.get(), frames);
  return frames;
}

}  // namespace npustream::dvpp
