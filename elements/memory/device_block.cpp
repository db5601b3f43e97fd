#include "elements/memory/device_block.h"

#include <algorithm>

#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>
#include <fmt/format.h>

#include "runtime/serving/acl_status.h"

namespace npustream::elements {

Result<std::unique_ptr<DeviceBlock>> DeviceBlock::Allocate(std::shared_ptr<const NpuDevice> device, size_t bytes) {
  NPUSTREAM_RETURN_IF_ERROR(device->Bind());
  void* data = nullptr;
  NPUSTREAM_RETURN_IF_ACL_ERROR(acldvppMalloc(&data, bytes),
                                fmt::format("allocating {} bytes on device {}", bytes, device->id()));
  return Adopt(std::move(device), data, bytes);
}

std::unique_ptr<DeviceBlock> DeviceBlock::Adopt(std::shared_ptr<const NpuDevice> device, void* data, size_t bytes) {
  return std::unique_ptr<DeviceBlock>(new DeviceBlock(std::move(device), data, bytes));  // NOLINT: private constructor
}

DeviceBlock::~DeviceBlock() {
  // The last holder may be any thread of a pipeline, also one that never touched the device.
  if (device_->Bind().ok()) acldvppFree(data_);
}

DeviceBlockPool::DeviceBlockPool(std::shared_ptr<const NpuDevice> device, size_t max_idle)
    : device_(std::move(device)), shelf_(std::make_shared<Shelf>()) {
  shelf_->max_idle = max_idle;
}

Result<std::shared_ptr<DeviceBlock>> DeviceBlockPool::Acquire(size_t bytes) {
  std::unique_ptr<DeviceBlock> block = shelf_->Take(bytes);
  if (block == nullptr) {
    NPUSTREAM_ASSIGN_OR_RETURN(block, DeviceBlock::Allocate(device_, bytes));
  }
  return std::shared_ptr<DeviceBlock>(
      block.release(), [shelf = shelf_](DeviceBlock* back) { shelf->Return(std::unique_ptr<DeviceBlock>(back)); });
}

size_t DeviceBlockPool::idle_blocks() const {
  MutexLock lock(shelf_->mutex);
  return shelf_->idle.size();
}

std::unique_ptr<DeviceBlock> DeviceBlockPool::Shelf::Take(size_t bytes) {
  MutexLock lock(mutex);
  const auto found = std::find_if(idle.begin(), idle.end(), [&](const auto& block) { return block->bytes() >= bytes; });
  if (found == idle.end()) return nullptr;
  std::unique_ptr<DeviceBlock> block = std::move(*found);
  idle.erase(found);
  return block;
}

void DeviceBlockPool::Shelf::Return(std::unique_ptr<DeviceBlock> block) {
  MutexLock lock(mutex);
  if (idle.size() < max_idle) idle.push_back(std::move(block));
  lock.Unlock();  // a block beyond the bound is freed outside the lock
  block.reset();
}

}  // namespace npustream::elements
