#include "base/xxh64.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace npustream {
namespace {

uint64_t Hash(std::string_view text, uint64_t seed = 0) { return Xxh64(std::as_bytes(std::span(text)), seed); }

// What xxhsum -H64 of xxHash 0.8.1 prints.
TEST(Xxh64, MatchesTheReferenceProgram) {
  EXPECT_EQ(Hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(Hash("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(Hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(Hash("xxhash is a fast hash; this text has more than thirty-two bytes: 79 of them......"),
            0xc61809390f0936d8u);
  std::vector<std::byte> bytes(1003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  EXPECT_EQ(Xxh64(bytes), 0x648377bda30f9738u);
}

TEST(Xxh64, EveryByteAndTheSeedCount) {
  std::vector<std::byte> bytes(77);
  const uint64_t whole = Xxh64(bytes);
  for (std::byte& byte : bytes) {
    byte = std::byte{1};
    EXPECT_NE(Xxh64(bytes), whole);
    byte = std::byte{0};
  }
  EXPECT_NE(Xxh64(bytes, 1), whole);
}

}  // namespace
}  // namespace npustream
