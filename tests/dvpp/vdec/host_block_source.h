#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "dvpp/vdec/frame_pool.h"

namespace npustream::dvpp {

// Plain memory in which a device address is the host's plus a constant. Exactly the bytes asked for, so that sanitizers
// see what reaches beyond.
class HostBlockSource : public BlockSource {
 public:
  static constexpr uintptr_t kOffset = uintptr_t{1} << 44;

  Result<Block> Allocate(size_t bytes) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, bytes) != 0) return Status(StatusCode::kResourceExhausted, "no memory");
    ++live_;
    return Block{static_cast<uint8_t*>(memory), reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) + kOffset),
                 bytes};
  }
  void Free(const Block& block) override {
    --live_;
    std::free(block.host);
  }
  int live() const { return live_; }

 private:
  std::atomic<int> live_ = 0;
};

}  // namespace npustream::dvpp
