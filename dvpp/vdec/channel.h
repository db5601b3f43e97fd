#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <unordered_map>

#include "base/bounded_queue.h"
#include "base/status.h"
#include "dvpp/vdec/decoder.h"
#include "dvpp/vdec/packet_ledger.h"

namespace npustream::dvpp {

// One stream being decoded on a thread of its own. Every packet that SendPacket accepts is answered once, pictures in
// display order. Send calls may come from any thread.
class VdecChannel {
 public:
  static constexpr size_t kQueuedPackets = 256;
  // The picture of a packet, or why there is none. Runs on the channel's thread; while it blocks, decoding pauses.
  using Answer = std::function<void(Result<DecodedPicture> picture)>;

  static Result<std::unique_ptr<VdecChannel>> Create(const DecoderOptions& options, std::shared_ptr<FramePool> pool);
  // Finishes first.
  ~VdecChannel();

  // Copies `data`, one coded picture. Blocks while kQueuedPackets wait. kResourceExhausted: no memory for the copy;
  // kUnavailable: finished.
  Status SendPacket(std::span<const uint8_t> data, Answer answer);
  // Codec data of the container for the packets that follow; those before it are drained.
  Status SendCodecData(std::span<const uint8_t> data);
  // The end of a stream: everything sent is answered. Another stream may follow.
  Status SendEndOfStream();
  // Answers everything sent and ends the thread. Later calls do nothing.
  void Finish();

 private:
  enum class Kind { kPicture, kCodecData, kEndOfStream };
  struct Job {
    Kind kind = Kind::kPicture;
    AvPacket packet;
    Answer answer;
  };

  explicit VdecChannel(std::unique_ptr<Decoder> decoder);
  Status Push(Kind kind, std::span<const uint8_t> data, Answer answer);
  void Run();
  void DecodePacket(Job& job);
  void Drain();
  // Answers `sequence` if it has not been answered yet.
  void Settle(int64_t sequence, Result<DecodedPicture> picture);
  void Lose(const std::vector<int64_t>& sequences);

  const std::unique_ptr<Decoder> decoder_;
  BoundedQueue<Job> jobs_{kQueuedPackets};
  // The thread's own.
  PacketLedger ledger_;
  std::unordered_map<int64_t, Answer> answers_;
  int64_t next_sequence_ = 0;
  std::thread thread_;
};

}  // namespace npustream::dvpp
