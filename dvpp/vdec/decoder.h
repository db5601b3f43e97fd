#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "dvpp/vdec/frame_pool.h"
#include "dvpp/vdec/libav.h"
#include "dvpp/vdec/picture_maker.h"

namespace npustream::dvpp {

struct DecoderOptions {
  uint32_t stream_format = 0;  // acldvppStreamFormat or ours
  acldvppPixelFormat output = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  int width = 0;   // what a container says about the coded size; 0: unknown
  int height = 0;
};

// libav's decoder of one stream, one thread, packets in and pictures out. Packets are numbered by the caller; every
// picture carries the number of its packet. For one thread at a time.
class Decoder {
 public:
  // A picture of packet `sequence`, or why it is none: kCorruptData when libav concealed errors or marked the picture.
  using Sink = std::function<void(int64_t sequence, Result<DecodedPicture> picture)>;

  // kInvalidArgument, kUnsupported as FindDecoder; `pool` gives the pictures' memory.
  static Result<std::unique_ptr<Decoder>> Create(const DecoderOptions& options, std::shared_ptr<FramePool> pool);

  // Codec data of the container (may be empty). Takes effect with the next packet, which then finds a new decoder;
  // drain before when packets were sent.
  void SetCodecData(std::span<const uint8_t> data);
  // Decodes one packet; pictures that are ready come out in display order. kCorruptData: libav refused the packet.
  Status Decode(int64_t sequence, AVPacket& packet, const Sink& sink);
  // Gives out what is held back; the decoder can then be used on.
  void Drain(const Sink& sink);

  // How many packets may follow a packet before its picture must have come out.
  int LongestDelay() const;

 private:
  Decoder(const DecoderOptions& options, const AVCodec* codec, std::shared_ptr<FramePool> pool);
  struct Held {
    int64_t sequence;
    Result<DecodedPicture> picture;
  };
  Status Open();
  Status Feed(AVPacket& packet, const Sink& sink);
  Status Receive(int64_t sequence, const Sink& sink);
  bool Probing() const;
  Status StartAgain(const Sink& hold);
  void EndProbing(const Sink& sink);
  void ReleaseHeld(const Sink& sink);
  void Emit(int64_t sequence, const Sink& sink);

  const DecoderOptions options_;
  const AVCodec* const codec_;
  const std::shared_ptr<FramePool> pool_;  // outlives context_, and is held by every picture
  std::vector<uint8_t> codec_data_;
  PictureMaker maker_;
  AvContext context_;
  AvFrame frame_;
  std::vector<AvPacket> early_;  // since the start, while probing
  std::optional<Held> held_;
  bool probed_ = false;
};

}  // namespace npustream::dvpp
