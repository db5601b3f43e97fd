#include "elements/decode/npu_vdec.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>

#include "base/log.h"
#include "runtime/serving/acl_status.h"

namespace npustream::elements {
namespace {

constexpr uint32_t kCodecDataFormat = 0x2000;   // dvpp/README.md: a packet that holds codec data
constexpr uint32_t kColorsParameter = 0x1000;   // dvpp/README.md: colours of the picture in the callback
constexpr size_t kLeastPacketBlock = 64 << 10;  // packets of a stream vary; blocks of few sizes are used again
constexpr int kReportTimeoutMs = 100;
constexpr std::chrono::milliseconds kHungryAfter{20};

// Ids tell channels of a process apart.
uint32_t NextChannelId() {
  static std::atomic<uint32_t> next{0};
  return next.fetch_add(1) % 256;
}

using UniqueStreamDesc = UniqueHandle<acldvppStreamDesc, acldvppDestroyStreamDesc>;

Result<UniqueStreamDesc> MakeStreamDesc(void* data, size_t bytes, uint32_t format) {
  UniqueStreamDesc description(acldvppCreateStreamDesc());
  if (description == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a packet's description");
  acldvppSetStreamDescData(description.get(), data);
  acldvppSetStreamDescSize(description.get(), static_cast<uint32_t>(bytes));
  acldvppSetStreamDescFormat(description.get(), static_cast<acldvppStreamFormat>(format));
  return description;
}

DevicePicture ReadPicture(acldvppPicDesc* description) {
  DevicePicture picture;
  picture.data = acldvppGetPicDescData(description);
  picture.bytes = acldvppGetPicDescSize(description);
  picture.format = acldvppGetPicDescFormat(description);
  picture.width = acldvppGetPicDescWidth(description);
  picture.height = acldvppGetPicDescHeight(description);
  picture.width_stride = acldvppGetPicDescWidthStride(description);
  picture.height_stride = acldvppGetPicDescHeightStride(description);
  return picture;
}

}  // namespace

// What has to live until the packet's callback.
struct VdecChannel::Packet {
  VdecChannel* channel = nullptr;
  uint64_t tag = 0;
  std::shared_ptr<DeviceBlock> data;  // from the pool
  UniqueStreamDesc input;
  UniquePicDesc output;
};

VdecChannel::VdecChannel(VdecOptions options)
    : options_(std::move(options)), packets_(options_.device, options_.max_pending) {}

Result<std::unique_ptr<VdecChannel>> VdecChannel::Create(VdecOptions options) {
  std::unique_ptr<VdecChannel> channel(new VdecChannel(std::move(options)));  // private constructor
  NPUSTREAM_RETURN_IF_ERROR(channel->Open());
  return channel;
}

Status VdecChannel::Open() {
  NPUSTREAM_RETURN_IF_ERROR(options_.device->Bind());
  description_.reset(aclvdecCreateChannelDesc());
  if (description_ == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a decoder channel");
  reports_ = std::thread([this] { RunReports(); });
  const pthread_t thread = reports_.native_handle();
  aclvdecSetChannelDescChannelId(description_.get(), NextChannelId());
  aclvdecSetChannelDescThreadId(description_.get(), static_cast<uint64_t>(thread));
  aclvdecSetChannelDescCallback(description_.get(), &VdecChannel::OnReport);
  aclvdecSetChannelDescEnType(description_.get(), static_cast<acldvppStreamFormat>(options_.stream_format));
  aclvdecSetChannelDescOutPicFormat(description_.get(), options_.output_format);
  if (options_.coded_width > 0 && options_.coded_height > 0) {
    aclvdecSetChannelDescOutPicWidth(description_.get(), options_.coded_width);
    aclvdecSetChannelDescOutPicHeight(description_.get(), options_.coded_height);
  }
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclvdecCreateChannel(description_.get()), "creating a decoder channel");
  created_ = true;
  MutexLock lock(mutex_);
  started_ = true;
  changed_.NotifyAll();
  return Status();
}

VdecChannel::~VdecChannel() {
  if (created_ && options_.device->Bind().ok()) aclvdecDestroyChannel(description_.get());
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (reports_.joinable()) reports_.join();
}

void VdecChannel::RunReports() {
  {
    MutexLock lock(mutex_);
    while (!started_ && !stopping_) changed_.Wait(lock);
  }
  if (Status status = options_.device->Bind(); !status.ok()) {
    Log(LogLevel::kError, "npuvdec", "the report thread has no device: {}", status.message());
  }
  for (;;) {
    const aclError result = aclrtProcessReport(kReportTimeoutMs);
    MutexLock lock(mutex_);
    if (stopping_) return;
    // Between the channel's end and ours the thread serves no stream and the call returns at once.
    if (result == ACL_ERROR_THREAD_NOT_SUBSCRIBE) changed_.WaitFor(lock, std::chrono::milliseconds(1));
  }
}

void VdecChannel::OnReport(acldvppStreamDesc*, acldvppPicDesc* output, void* user_data) {
  auto* packet = static_cast<Packet*>(user_data);
  packet->channel->Finish(packet, output);
}

void VdecChannel::Finish(Packet* raw_packet, acldvppPicDesc* output) {
  const std::unique_ptr<Packet> packet(raw_packet);
  DecodedPicture decoded;
  decoded.tag = packet->tag;
  if (output != nullptr && acldvppGetPicDescData(output) != nullptr) {
    decoded.picture = ReadPicture(output);
    decoded.block = DeviceBlock::Adopt(options_.device, decoded.picture.data, decoded.picture.bytes);
    if (acldvppGetPicDescRetCode(output) != 0) decoded.block.reset();
    decoded.colors = ReadColors();
    decoded.picture.full_range = decoded.colors.full_range;
  }
  packet->data.reset();
  {
    MutexLock lock(mutex_);
    delivering_ = true;
  }
  options_.on_picture(std::move(decoded));
  MutexLock lock(mutex_);
  delivering_ = false;
  --pending_;
  ++finished_;
  changed_.NotifyAll();
}

PictureColors VdecChannel::ReadColors() const {
  PictureColors colors;
  uint32_t value = 0;
  size_t size = 0;
  if (aclvdecGetChannelDescParam(description_.get(), static_cast<aclvdecChannelDescParamType>(kColorsParameter),
                                 sizeof value, &size, &value) != ACL_SUCCESS) {
    return colors;
  }
  colors.matrix = static_cast<int>(value & 0xFF);
  colors.full_range = (value >> 8 & 1) != 0;
  return colors;
}

Result<std::shared_ptr<DeviceBlock>> VdecChannel::Upload(std::span<const std::byte> bytes) {
  NPUSTREAM_RETURN_IF_ERROR(options_.device->Bind());
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<DeviceBlock> block,
                             packets_.Acquire(std::bit_ceil(std::max(bytes.size(), kLeastPacketBlock))));
  NPUSTREAM_RETURN_IF_ACL_ERROR(
      aclrtMemcpy(block->data(), block->bytes(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE),
      "copying a packet to the device");
  return block;
}

Status VdecChannel::WaitForRoom() {
  MutexLock lock(mutex_);
  while (pending_ >= options_.max_pending && !aborted_) {
    const uint64_t finished_before = finished_;
    const bool timed_out = changed_.WaitFor(lock, kHungryAfter) == std::cv_status::timeout;
    if (timed_out && finished_ == finished_before && !delivering_) break;
  }
  return aborted_ ? Status(StatusCode::kUnavailable, "the decoder is being stopped") : Status();
}

Status VdecChannel::Send(std::span<const std::byte> bytes, uint64_t tag) {
  if (drained_) return Status(StatusCode::kFailedPrecondition, "the decoder has been drained");
  if (bytes.empty()) return Status(StatusCode::kInvalidArgument, "an empty packet");
  NPUSTREAM_RETURN_IF_ERROR(WaitForRoom());
  auto packet = std::make_unique<Packet>();
  packet->channel = this;
  packet->tag = tag;
  NPUSTREAM_ASSIGN_OR_RETURN(packet->data, Upload(bytes));
  NPUSTREAM_ASSIGN_OR_RETURN(packet->input, MakeStreamDesc(packet->data->data(), bytes.size(), options_.stream_format));
  acldvppSetStreamDescTimestamp(packet->input.get(), tag);
  // Without data the device chooses the buffer itself and the picture is born where it stays.
  DevicePicture device_chooses;
  device_chooses.format = options_.output_format;
  NPUSTREAM_ASSIGN_OR_RETURN(packet->output, MakePicDesc(device_chooses));
  return SendPacket(std::move(packet));
}

Status VdecChannel::SendPacket(std::unique_ptr<Packet> packet) {
  {
    MutexLock lock(mutex_);
    ++pending_;
  }
  const aclError result =
      aclvdecSendFrame(description_.get(), packet->input.get(), packet->output.get(), nullptr, packet.get());
  if (result != ACL_SUCCESS) {
    MutexLock lock(mutex_);
    --pending_;
    return serving::AclStatus(result, "handing a packet to the decoder");
  }
  packet.release();  // now Finish owns it
  return Status();
}

Status VdecChannel::SendCodecData(std::span<const std::byte> data) {
  if (data.empty()) return Status();
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<DeviceBlock> block, Upload(data));
  NPUSTREAM_ASSIGN_OR_RETURN(UniqueStreamDesc input, MakeStreamDesc(block->data(), data.size(), kCodecDataFormat));
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclvdecSendFrame(description_.get(), input.get(), nullptr, nullptr, nullptr),
                                "handing codec data to the decoder");
  return Status();
}

Status VdecChannel::Drain() {
  if (drained_) return Status();
  drained_ = true;
  NPUSTREAM_RETURN_IF_ERROR(options_.device->Bind());
  NPUSTREAM_ASSIGN_OR_RETURN(UniqueStreamDesc input, MakeStreamDesc(nullptr, 0, options_.stream_format));
  acldvppSetStreamDescEos(input.get(), 1);
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclvdecSendFrame(description_.get(), input.get(), nullptr, nullptr, nullptr),
                                "ending the decoder's stream");
  MutexLock lock(mutex_);
  while (pending_ > 0) changed_.Wait(lock);
  return Status();
}

void VdecChannel::Abort() {
  MutexLock lock(mutex_);
  aborted_ = true;
  changed_.NotifyAll();
}

}  // namespace npustream::elements
