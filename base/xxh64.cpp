#include "base/xxh64.h"

#include <bit>
#include <cstring>

namespace npustream {
namespace {

// The specification's primes and steps, by its names.
constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                   kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;
constexpr size_t kStripe = 32;

template <typename T>
T Read(const std::byte* from) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

uint64_t Round(uint64_t accumulator, uint64_t lane) { return std::rotl(accumulator + lane * kPrime2, 31) * kPrime1; }

uint64_t Merge(uint64_t hash, uint64_t accumulator) { return (hash ^ Round(0, accumulator)) * kPrime1 + kPrime4; }

// All whole stripes; `at` is moved behind them.
uint64_t Stripes(const std::byte*& at, const std::byte* end, uint64_t seed) {
  uint64_t a = seed + kPrime1 + kPrime2, b = seed + kPrime2, c = seed, d = seed - kPrime1;
  for (; end - at >= static_cast<std::ptrdiff_t>(kStripe); at += kStripe) {
    a = Round(a, Read<uint64_t>(at));
    b = Round(b, Read<uint64_t>(at + 8));
    c = Round(c, Read<uint64_t>(at + 16));
    d = Round(d, Read<uint64_t>(at + 24));
  }
  const uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return Merge(Merge(Merge(Merge(hash, a), b), c), d);
}

uint64_t Rest(const std::byte* at, const std::byte* end, uint64_t hash) {
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ Round(0, Read<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ Read<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at) hash = std::rotl(hash ^ std::to_integer<uint64_t>(*at) * kPrime5, 11) * kPrime1;
  return hash;
}

uint64_t Avalanche(uint64_t hash) {
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace

uint64_t Xxh64(std::span<const std::byte> bytes, uint64_t seed) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  const uint64_t hash = bytes.size() >= kStripe ? Stripes(at, end, seed) : seed + kPrime5;
  return Avalanche(Rest(at, end, hash + bytes.size()));
}

}  // namespace npustream
