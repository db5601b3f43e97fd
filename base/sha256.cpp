#include "base/sha256.h"

#include <openssl/evp.h>

#include <fmt/format.h>

namespace npustream {

Sha256Digest Sha256(std::span<const std::byte> bytes) {
  Sha256Digest digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

std::string Sha256Hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const uint8_t byte : Sha256(bytes)) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace npustream
