#include "npu_sim/om/file_header.h"

#include <cstring>

namespace npustream::om {

Sha256Digest FileChecksum(FileHeader header, std::span<const std::byte> body) {
  std::memset(header.checksum, 0, sizeof(header.checksum));
  const Sha256Digest digests[2] = {Sha256(std::as_bytes(std::span(&header, 1))), Sha256(body)};
  return Sha256(std::as_bytes(std::span(digests)));
}

}  // namespace npustream::om
