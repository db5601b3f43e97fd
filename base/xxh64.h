#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace npustream {

// XXH64 of the xxHash specification: finds damage several times faster than SHA-256, and keeps no forger out.
uint64_t Xxh64(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace npustream
