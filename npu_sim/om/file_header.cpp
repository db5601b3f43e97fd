#include "npu_sim/om/file_header.h"

#include <xxhash.h>

namespace npustream::om {

uint64_t FileChecksum(FileHeader header, std::span<const std::byte> body) {
  header.checksum = 0;
  return XXH64(body.data(), body.size(), XXH64(&header, sizeof header, 0));
}

}  // namespace npustream::om
