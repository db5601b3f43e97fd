#include "dvpp/api/device_blocks.h"

#include <unordered_set>

#include "base/log.h"
#include "base/mutex.h"

namespace npustream::dvpp {
namespace {

struct BlockSet {
  Mutex mutex;
  std::unordered_set<const void*> starts NPUSTREAM_GUARDED_BY(mutex);
};

BlockSet& LiveBlocks() {
  static auto* set = new BlockSet;  // never destroyed: threads may outlive static objects
  return *set;
}

}  // namespace

bool DeviceBlocks::Owns(const void* address) {
  MutexLock lock(LiveBlocks().mutex);
  return LiveBlocks().starts.contains(address);
}

Result<Block> DeviceBlocks::Allocate(size_t bytes) {
  device::Memory& memory = device_.memory();
  NPUSTREAM_ASSIGN_OR_RETURN(void* const address, memory.Allocate(bytes, device::PagePolicy::kHugeFirst));
  const Result<std::byte*> host = memory.Translate(address, bytes);
  if (!host.ok()) return host.status();
  MutexLock lock(LiveBlocks().mutex);
  LiveBlocks().starts.insert(address);
  return Block{reinterpret_cast<uint8_t*>(host.value()), address, bytes};
}

void DeviceBlocks::Free(const Block& block) {
  {
    MutexLock lock(LiveBlocks().mutex);
    LiveBlocks().starts.erase(block.device);
  }
  const Status status = device_.memory().Free(block.device);
  if (!status.ok()) Log(LogLevel::kError, "dvpp", "a picture's memory is not freed: {}", status.message());
}

}  // namespace npustream::dvpp
