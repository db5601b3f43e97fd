#include "dvpp/vdec/frame_pool.h"

#include <utility>

namespace npustream::dvpp {

std::shared_ptr<FramePool> FramePool::Create(std::shared_ptr<BlockSource> source) {
  return std::shared_ptr<FramePool>(new FramePool(std::move(source)));
}

FramePool::~FramePool() {
  for (std::unique_ptr<FrameMemory>& memory : kept_) Destroy(memory.get());
}

void FramePool::Destroy(FrameMemory* memory) { source_->Free(memory->block); }

std::unique_ptr<FrameMemory> FramePool::TakeKept(size_t block_bytes, size_t side_bytes) {
  std::vector<std::unique_ptr<FrameMemory>> outdated;
  MutexLock lock(mutex_);
  if (block_bytes != block_bytes_ || side_bytes != side_bytes_) {
    outdated.swap(kept_);
    block_bytes_ = block_bytes;
    side_bytes_ = side_bytes;
  }
  std::unique_ptr<FrameMemory> found;
  if (!kept_.empty()) {
    found = std::move(kept_.back());
    kept_.pop_back();
  } else {
    ++allocations_;
  }
  lock.Unlock();
  for (std::unique_ptr<FrameMemory>& memory : outdated) Destroy(memory.get());
  return found;
}

Result<std::shared_ptr<FrameMemory>> FramePool::Take(size_t block_bytes, size_t side_bytes) {
  std::unique_ptr<FrameMemory> memory = TakeKept(block_bytes, side_bytes);
  if (memory == nullptr) {
    NPUSTREAM_ASSIGN_OR_RETURN(const Block block, source_->Allocate(block_bytes));
    // Side planes hold what libav writes; zeros keep a first picture's padding defined.
    memory.reset(new FrameMemory{block, side_bytes ? std::make_unique<uint8_t[]>(side_bytes) : nullptr, side_bytes, 0});
  }
  return std::shared_ptr<FrameMemory>(memory.release(),
                                      [pool = shared_from_this()](FrameMemory* used) { pool->GiveBack(used); });
}

void FramePool::GiveBack(FrameMemory* memory) {
  std::unique_ptr<FrameMemory> owned(memory);
  {
    MutexLock lock(mutex_);
    if (memory->block.bytes == block_bytes_ && memory->side_bytes == side_bytes_ && kept_.size() < kMaxKept) {
      kept_.push_back(std::move(owned));
      return;
    }
  }
  Destroy(memory);
}

size_t FramePool::allocations() const {
  MutexLock lock(mutex_);
  return allocations_;
}

}  // namespace npustream::dvpp
