#include "npu_sim/om/file_header.h"

#include "base/xxh64.h"

namespace npustream::om {

uint64_t FileChecksum(FileHeader header, std::span<const std::byte> body) {
  header.checksum = 0;
  return Xxh64(body, Xxh64(std::as_bytes(std::span(&header, 1))));
}

}  // namespace npustream::om
