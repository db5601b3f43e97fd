#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace npustream::om {

// The first bytes of an OM file, little-endian as everything in it. The metadata follows at `metadata_offset`, the
// weight section at `weight_offset`, a multiple of 64.
struct FileHeader {
  char magic[4];             // "OM\0" and the number of this layout
  uint32_t header_bytes;     // sizeof(FileHeader)
  char toolkit_version[32];  // zero-terminated
  char soc[32];              // zero-terminated
  uint32_t node_count;
  uint32_t reserved;
  uint64_t file_bytes;
  uint64_t metadata_offset, metadata_bytes;
  uint64_t weight_offset, weight_bytes;
  uint64_t checksum;  // see FileChecksum
};
static_assert(sizeof(FileHeader) == 128 && std::is_trivially_copyable_v<FileHeader>);

inline constexpr char kMagic[3] = {'O', 'M', '\0'};
inline constexpr char kLayoutVersion = 2;
inline constexpr size_t kWeightAlignment = 64;

// XXH64 of all that follows the header, seeded with that of the header with `checksum` zero.
uint64_t FileChecksum(FileHeader header, std::span<const std::byte> body);

}  // namespace npustream::om
