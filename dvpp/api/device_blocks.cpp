#include "dvpp/api/device_blocks.h"

#include "base/log.h"

namespace npustream::dvpp {

Result<Block> DeviceBlocks::Allocate(size_t bytes) {
  device::Memory& memory = device_.memory();
  NPUSTREAM_ASSIGN_OR_RETURN(void* const address, memory.Allocate(bytes, device::PagePolicy::kHugeFirst));
  const Result<std::byte*> host = memory.Translate(address, bytes);
  if (!host.ok()) return host.status();
  return Block{reinterpret_cast<uint8_t*>(host.value()), address, bytes};
}

void DeviceBlocks::Free(const Block& block) {
  const Status status = device_.memory().Free(block.device);
  if (!status.ok()) Log(LogLevel::kError, "dvpp", "a picture's memory is not freed: {}", status.message());
}

}  // namespace npustream::dvpp
