#include "dvpp/vdec/channel.h"

#include <cstring>
#include <utility>

namespace npustream::dvpp {

Result<std::unique_ptr<VdecChannel>> VdecChannel::Create(const DecoderOptions& options,
                                                         std::shared_ptr<FramePool> pool) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<Decoder> decoder, Decoder::Create(options, std::move(pool)));
  std::unique_ptr<VdecChannel> channel(new VdecChannel(std::move(decoder)));
  channel->thread_ = std::thread([raw = channel.get()] { raw->Run(); });
  return channel;
}

VdecChannel::VdecChannel(std::unique_ptr<Decoder> decoder) : decoder_(std::move(decoder)) {}

VdecChannel::~VdecChannel() { Finish(); }

void VdecChannel::Finish() {
  jobs_.Close();
  if (thread_.joinable()) thread_.join();
}

Status VdecChannel::Push(Kind kind, std::span<const uint8_t> data, Answer answer) {
  AvPacket packet(av_packet_alloc());
  if (packet == nullptr || av_new_packet(packet.get(), static_cast<int>(data.size())) < 0) {
    return Status(StatusCode::kResourceExhausted, "no memory for a packet");
  }
  if (!data.empty()) std::memcpy(packet->data, data.data(), data.size());
  if (!jobs_.Push({kind, std::move(packet), std::move(answer)})) {
    return Status(StatusCode::kUnavailable, "the channel is being destroyed");
  }
  return {};
}

Status VdecChannel::SendPacket(std::span<const uint8_t> data, Answer answer) {
  return Push(Kind::kPicture, data, std::move(answer));
}

Status VdecChannel::SendCodecData(std::span<const uint8_t> data) { return Push(Kind::kCodecData, data, nullptr); }

Status VdecChannel::SendEndOfStream() { return Push(Kind::kEndOfStream, {}, nullptr); }

void VdecChannel::Run() {
  while (std::optional<Job> job = jobs_.Pop()) {
    switch (job->kind) {
      case Kind::kPicture: DecodePacket(*job); break;
      case Kind::kCodecData:
        Drain();
        decoder_->SetCodecData({job->packet->data, static_cast<size_t>(job->packet->size)});
        break;
      case Kind::kEndOfStream: Drain(); break;
    }
  }
  Drain();
}

void VdecChannel::DecodePacket(Job& job) {
  const int64_t sequence = next_sequence_++;
  ledger_.Sent(sequence);
  answers_.emplace(sequence, std::move(job.answer));
  const Status status = decoder_->Decode(sequence, *job.packet, [this](int64_t number, Result<DecodedPicture> picture) {
    Settle(number, std::move(picture));
  });
  if (!status.ok()) Settle(sequence, status);
  Lose(ledger_.TakeLost(sequence, decoder_->LongestDelay()));
}

void VdecChannel::Drain() {
  decoder_->Drain([this](int64_t number, Result<DecodedPicture> picture) { Settle(number, std::move(picture)); });
  Lose(ledger_.TakeAll());
}

void VdecChannel::Settle(int64_t sequence, Result<DecodedPicture> picture) {
  if (!ledger_.Settle(sequence)) return;
  const auto found = answers_.find(sequence);
  const Answer answer = std::move(found->second);
  answers_.erase(found);
  answer(std::move(picture));
}

void VdecChannel::Lose(const std::vector<int64_t>& sequences) {
  for (const int64_t sequence : sequences) {
    const auto found = answers_.find(sequence);
    const Answer answer = std::move(found->second);
    answers_.erase(found);
    answer(Status(StatusCode::kCorruptData, "the packet gave no picture"));
  }
}

}  // namespace npustream::dvpp
