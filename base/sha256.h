#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace npustream {

using Sha256Digest = std::array<uint8_t, 32>;

// FIPS 180-4 SHA-256.
Sha256Digest Sha256(std::span<const std::byte> bytes);
// The digest as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::span<const std::byte> bytes);

}  // namespace npustream
