#include "runtime/serving/output_pool.h"

#include "runtime/serving/acl_status.h"

namespace npustream::serving {

HostOutputs::~HostOutputs() { pool_->GiveBack(block_); }

std::span<const std::byte> HostOutputs::tensor(size_t index) const {
  const OutputPool::Extent& extent = pool_->extents_.at(index);
  return {block_ + extent.offset, extent.bytes};
}

std::byte* HostOutputs::data(size_t index) { return block_ + pool_->extents_.at(index).offset; }

OutputPool::OutputPool(std::shared_ptr<AclSession> session, const std::vector<TensorInfo>& outputs, size_t reserve)
    : session_(std::move(session)), reserve_(reserve) {
  constexpr size_t kAlignment = 64;  // a cache line; vector loads of what reads the tensors
  for (const TensorInfo& output : outputs) {
    extents_.push_back({block_bytes_, output.bytes});
    block_bytes_ += (output.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  unused_.reserve(reserve_);
}

OutputPool::~OutputPool() {
  for (std::byte* block : unused_) aclrtFreeHost(block);
}

Result<std::shared_ptr<HostOutputs>> OutputPool::Take() {
  {
    MutexLock lock(mutex_);
    if (!unused_.empty()) {
      std::byte* block = unused_.back();
      unused_.pop_back();
      return std::make_shared<HostOutputs>(shared_from_this(), block);
    }
  }
  void* block = nullptr;
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMallocHost(&block, block_bytes_), "allocating host memory for outputs");
  return std::make_shared<HostOutputs>(shared_from_this(), static_cast<std::byte*>(block));
}

void OutputPool::GiveBack(std::byte* block) {
  {
    MutexLock lock(mutex_);
    if (unused_.size() < reserve_) {
      unused_.push_back(block);
      return;
    }
  }
  aclrtFreeHost(block);
}

}  // namespace npustream::serving
