#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>

#include "base/mutex.h"
#include "base/status.h"
#include "base/unique_handle.h"
#include "elements/memory/device_block.h"
#include "elements/memory/device_picture.h"

namespace npustream::elements {

// H.273 code points and flags of a decoded picture, as far as the device tells.
struct PictureColors {
  int matrix = 2;  // 2: unspecified
  bool full_range = false;
};

// What became of one packet.
struct DecodedPicture {
  uint64_t tag = 0;                    // as given to Send
  std::shared_ptr<DeviceBlock> block;  // null: the packet gave no picture; shared with the buffers it travels in
  DevicePicture picture;               // valid with a block
  PictureColors colors;
};

struct VdecOptions {
  std::shared_ptr<const NpuDevice> device;
  uint32_t stream_format = 0;  // acldvppStreamFormat
  acldvppPixelFormat output_format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  uint32_t coded_width = 0;  // from the container, 0 when unknown
  uint32_t coded_height = 0;
  size_t max_pending = 32;  // packets on the way; Send blocks when there are so many, see WaitForRoom
  // Called once per packet on the channel's own thread, pictures in display order. May block: then the device pauses.
  std::function<void(DecodedPicture)> on_picture;
};

// One decoder channel of the device with its report thread. Send and SendCodecData belong to one thread.
class VdecChannel {
 public:
  static Result<std::unique_ptr<VdecChannel>> Create(VdecOptions options);
  // Waits for everything that was sent; on_picture is called until then.
  ~VdecChannel();

  // Copies the packet to the device and hands it to the decoder; blocks while `max_pending` are on the way, unless
  // Abort() was called (kUnavailable).
  Status Send(std::span<const std::byte> packet, uint64_t tag);
  // A container's codec data, before the first packet or when it changes. The decoder is drained first.
  Status SendCodecData(std::span<const std::byte> data);
  // Ends the stream: every packet's outcome has been reported when this returns. Packets may not follow.
  Status Drain();
  // Wakes a blocked Send and lets it and later ones fail; any thread.
  void Abort();

 private:
  struct Packet;
  explicit VdecChannel(VdecOptions options);
  Status Open();
  void RunReports();
  static void OnReport(acldvppStreamDesc* input, acldvppPicDesc* output, void* user_data);
  void Finish(Packet* packet, acldvppPicDesc* output);
  Result<std::shared_ptr<DeviceBlock>> Upload(std::span<const std::byte> bytes);
  Status SendPacket(std::unique_ptr<Packet> packet);
  // Waits until fewer than `max_pending` packets are on the way. A decoder may take more packets than that before it
  // says what became of any (a stream that begins without a key frame): when nothing comes back for a while although
  // nobody downstream holds anything up, it is given one more. Those are compressed data; decoded pictures stay
  // bounded.
  Status WaitForRoom();
  PictureColors ReadColors() const;

  const VdecOptions options_;
  DeviceBlockPool packets_;
  UniqueHandle<aclvdecChannelDesc, aclvdecDestroyChannelDesc> description_;
  bool created_ = false;
  bool drained_ = false;

  mutable Mutex mutex_;
  CondVar changed_;
  size_t pending_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  uint64_t finished_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  bool delivering_ NPUSTREAM_GUARDED_BY(mutex_) = false;  // on_picture is running
  bool aborted_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  bool started_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  bool stopping_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  std::thread reports_;
};

}  // namespace npustream::elements
