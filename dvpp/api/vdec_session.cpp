#include "dvpp/api/vdec_session.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "dvpp/api/descriptions.h"
#include "dvpp/api/device_blocks.h"
#include "dvpp/api/owned_pictures.h"
#include "dvpp/picture/copy.h"

namespace npustream::dvpp {
namespace {

constexpr uint32_t kGood = 0;
constexpr uint32_t kFailed = 1;
constexpr auto kPatience = std::chrono::seconds(10);

int AlignUp(int value, int alignment) { return (value + alignment - 1) / alignment * alignment; }

// Where the picture lies in the application's buffer: with its strides when they hold the picture, else the card's.
PictureView TargetView(const acldvppPicDesc& description, const PictureView& picture, uint8_t* target) {
  PictureView view = picture;
  view.data = target;
  view.stride = static_cast<int>(description.width_stride);
  view.height_stride = static_cast<int>(description.height_stride);
  if (description.width_stride > INT32_MAX || view.stride < LeastStride(picture.format, picture.width)) {
    view.stride = LeastStride(picture.format, AlignUp(picture.width, 16));
  }
  if (description.height_stride > INT32_MAX || view.height_stride < picture.height) {
    view.height_stride = AlignUp(picture.height, 2);
  }
  return view;
}

void Describe(const PictureView& view, size_t bytes, acldvppPicDesc& description) {
  description.size = static_cast<uint32_t>(bytes);
  description.format = view.format;
  description.width = static_cast<uint32_t>(view.width);
  description.height = static_cast<uint32_t>(view.height);
  description.width_stride = static_cast<uint32_t>(view.stride);
  description.height_stride = static_cast<uint32_t>(view.height_stride);
}

}  // namespace

Result<std::shared_ptr<VdecSession>> VdecSession::Create(const DecoderOptions& options, device::Device& device,
                                                         uint64_t thread_id, aclvdecCallback callback) {
  std::shared_ptr<VdecSession> session(new VdecSession(thread_id, callback));
  NPUSTREAM_ASSIGN_OR_RETURN(session->channel_,
                             VdecChannel::Create(options, FramePool::Create(std::make_shared<DeviceBlocks>(device))));
  return session;
}

Status VdecSession::Send(std::span<const uint8_t> data, const VdecTicket& ticket) {
  {
    MutexLock lock(mutex_);
    ++outstanding_;
  }
  // The channel is joined in Finish, before this object can go.
  const Status status = channel_->SendPacket(
      data, [this, ticket](Result<DecodedPicture> picture) { Deliver(ticket, std::move(picture)); });
  if (!status.ok()) {
    MutexLock lock(mutex_);
    --outstanding_;
  }
  return status;
}

void VdecSession::Deliver(const VdecTicket& ticket, Result<DecodedPicture> picture) {
  uint32_t colour = 2;
  bool owned = false;
  if (ticket.output != nullptr) {
    bool good = picture.ok();
    if (good && ticket.target != nullptr) {
      const PictureView view = TargetView(*ticket.output, picture->view, ticket.target);
      const size_t bytes = PictureBytes(view.format, view.stride, view.height_stride);
      good = bytes <= ticket.target_bytes;
      if (good) {
        CopyPicture(picture->view, view);
        Describe(view, bytes, *ticket.output);
      }
    } else if (good) {
      owned = true;
      ticket.output->data = picture->device;
      Describe(picture->view, picture->bytes, *ticket.output);
      OwnedPictures::Instance().HandOut(picture->device, std::move(picture->keep));
    }
    if (good) colour = picture->colour;
    ticket.output->ret_code = good ? kGood : kFailed;
  }
  if (owned) {
    MutexLock lock(mutex_);
    ++waiting_;
    while (waiting_ > kWaitingPictures && !finishing_) reported_.Wait(lock);
  }
  reports_.Post([self = shared_from_this(), ticket, colour, owned] { self->Report(ticket, colour, owned); });
}

void VdecSession::Report(const VdecTicket& ticket, uint32_t colour, bool owned) {
  current_colour_ = colour;
  callback_(ticket.input, ticket.output, ticket.user_data);
  MutexLock lock(mutex_);
  --outstanding_;
  if (owned) --waiting_;
  reported_.NotifyAll();
}

Status VdecSession::Finish() {
  {
    MutexLock lock(mutex_);
    finishing_ = true;
    reported_.NotifyAll();
  }
  channel_->Finish();
  return Settle();
}

Status VdecSession::Settle() {
  const bool on_report_thread = reports_.thread_id() == static_cast<uint64_t>(pthread_self());
  MutexLock lock(mutex_);
  while (outstanding_ > 0) {
    const int before = outstanding_;
    if (on_report_thread) {
      lock.Unlock();
      (void)aclrtProcessReport(1);
      lock.Lock();
    } else if (reported_.WaitFor(lock, kPatience) == std::cv_status::timeout && outstanding_ == before) {
      return Status(StatusCode::kTimeout, "the report thread takes no reports");
    }
  }
  return {};
}

}  // namespace npustream::dvpp
