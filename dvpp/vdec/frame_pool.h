#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace npustream::dvpp {

// A piece of device memory: the same bytes as the host sees them and as the device names them.
struct Block {
  uint8_t* host = nullptr;
  void* device = nullptr;
  size_t bytes = 0;
};

// Where blocks come from: a device's memory, or plain memory in tests. Thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // 64-byte aligned.
  virtual Result<Block> Allocate(size_t bytes) = 0;
  virtual void Free(const Block& block) = 0;
};

// Memory of one picture: a device block for the finished picture and, beside it, host memory for planes that are not
// part of it yet (planar chroma).
struct FrameMemory {
  Block block;
  std::unique_ptr<uint8_t[]> side;
  size_t side_bytes = 0;
  size_t luma_bytes = 0;  // the first bytes of the block, which the decoder writes and reads again
};

// The pictures of one channel. Memory comes back when its last reference is gone and is used again for pictures of the
// same size; a change of size frees what is kept. At most kMaxKept unused ones are kept. Thread-safe; lives as long as
// any of its memory.
class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  static constexpr size_t kMaxKept = 32;

  static std::shared_ptr<FramePool> Create(std::shared_ptr<BlockSource> source);
  ~FramePool();

  // Shared, because libav, the channel and the application each hold a picture while they like. Contents undefined.
  Result<std::shared_ptr<FrameMemory>> Take(size_t block_bytes, size_t side_bytes);
  // Blocks asked of the source so far.
  size_t allocations() const;

 private:
  explicit FramePool(std::shared_ptr<BlockSource> source) : source_(std::move(source)) {}
  void GiveBack(FrameMemory* memory);
  void Destroy(FrameMemory* memory);
  std::unique_ptr<FrameMemory> TakeKept(size_t block_bytes, size_t side_bytes);

  const std::shared_ptr<BlockSource> source_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<FrameMemory>> kept_ NPUSTREAM_GUARDED_BY(mutex_);
  size_t block_bytes_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  size_t side_bytes_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  size_t allocations_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
};

}  // namespace npustream::dvpp
