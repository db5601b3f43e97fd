#pragma once

#include "dvpp/vdec/frame_pool.h"
#include "npu_sim/device/device.h"

namespace npustream::dvpp {

// Blocks of a device's memory. The device lives as long as the process.
class DeviceBlocks : public BlockSource {
 public:
  explicit DeviceBlocks(device::Device& device) : device_(device) {}
  Result<Block> Allocate(size_t bytes) override;
  void Free(const Block& block) override;

  // True for the start of a block that some pool of the process has, in use or not: the application must not free it.
  static bool Owns(const void* address);

 private:
  device::Device& device_;
};

}  // namespace npustream::dvpp
