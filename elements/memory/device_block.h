#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "elements/memory/npu_device.h"

namespace npustream::elements {

// A piece of device memory that media engines and models may use; given back with the object. The host cannot
// dereference data().
class DeviceBlock {
 public:
  // `bytes` > 0; contents undefined. kResourceExhausted when the device is full.
  static Result<std::unique_ptr<DeviceBlock>> Allocate(std::shared_ptr<const NpuDevice> device, size_t bytes);
  // Takes over memory that a media engine allocated and that acldvppFree gives back.
  static std::unique_ptr<DeviceBlock> Adopt(std::shared_ptr<const NpuDevice> device, void* data, size_t bytes);
  ~DeviceBlock();
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  const std::shared_ptr<const NpuDevice>& device() const { return device_; }

  // What a user of pooled blocks left in it; 0 in a new block. Only the block's holder touches it.
  uint64_t content_tag = 0;

 private:
  DeviceBlock(std::shared_ptr<const NpuDevice> device, void* data, size_t bytes)
      : device_(std::move(device)), data_(data), bytes_(bytes) {}
  const std::shared_ptr<const NpuDevice> device_;
  void* const data_;
  const size_t bytes_;
};

// Blocks that are used again. What is given back is kept, up to `max_idle` blocks; how many are out is bounded by
// those who hold them. Thread-safe; blocks may outlive the pool.
class DeviceBlockPool {
 public:
  DeviceBlockPool(std::shared_ptr<const NpuDevice> device, size_t max_idle);

  // A block of at least `bytes`. Shared, because one block may ride on several copies of a buffer at once; the last
  // holder gives it back to the pool.
  Result<std::shared_ptr<DeviceBlock>> Acquire(size_t bytes);
  size_t idle_blocks() const;

 private:
  struct Shelf {
    mutable Mutex mutex;
    std::vector<std::unique_ptr<DeviceBlock>> idle NPUSTREAM_GUARDED_BY(mutex);
    size_t max_idle = 0;
    std::unique_ptr<DeviceBlock> Take(size_t bytes);
    void Return(std::unique_ptr<DeviceBlock> block);
  };
  std::shared_ptr<const NpuDevice> device_;
  std::shared_ptr<Shelf> shelf_;  // shared with the blocks that are out
};

}  // namespace npustream::elements
