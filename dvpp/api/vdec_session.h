#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/status.h"
#include "dvpp/picture/picture.h"
#include "dvpp/vdec/channel.h"
#include "runtime/acl/internal.h"

namespace npustream::dvpp {

// What one accepted send will report: the descriptors sent, the application's word, and where the picture goes.
struct VdecTicket {
  acldvppStreamDesc* input = nullptr;
  acldvppPicDesc* output = nullptr;  // null: skipped
  void* user_data = nullptr;
  uint8_t* target = nullptr;  // the application's buffer as the host sees it; null: the picture keeps the decoder's
  size_t target_bytes = 0;
};

// A decoder channel together with the way back to the application's thread. Thread-safe.
class VdecSession : public std::enable_shared_from_this<VdecSession> {
 public:
  // Pictures in the decoder's own buffers that may wait for their callback; then decoding pauses.
  static constexpr int kWaitingPictures = 8;

  static Result<std::shared_ptr<VdecSession>> Create(const DecoderOptions& options, device::Device& device,
                                                     uint64_t thread_id, aclvdecCallback callback);

  Status Send(std::span<const uint8_t> data, const VdecTicket& ticket);
  VdecChannel& channel() { return *channel_; }
  // Waits until all is decoded and reported. On the report thread itself the reports run inside this call. kTimeout:
  // the report thread has not taken a report for ten seconds.
  Status Finish();
  // Of the picture whose callback is running.
  uint32_t current_colour() const { return current_colour_; }

 private:
  VdecSession(uint64_t thread_id, aclvdecCallback callback) : reports_(thread_id), callback_(callback) {}
  void Deliver(const VdecTicket& ticket, Result<DecodedPicture> picture);
  void Report(const VdecTicket& ticket, uint32_t colour, bool owned);
  Status Settle();

  const acl::ReportSubscription reports_;
  const aclvdecCallback callback_;
  std::atomic<uint32_t> current_colour_ = 2;  // unspecified
  mutable Mutex mutex_;
  CondVar reported_;
  int outstanding_ NPUSTREAM_GUARDED_BY(mutex_) = 0;  // sends without their callback
  int waiting_ NPUSTREAM_GUARDED_BY(mutex_) = 0;      // decoder's pictures on their way to the callback
  bool finishing_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  std::unique_ptr<VdecChannel> channel_;  // last: its thread uses all the others
};

}  // namespace npustream::dvpp
