#include "base/sha256.h"

#include <string_view>

#include <gtest/gtest.h>

namespace npustream {
namespace {

// FIPS 180-4 examples.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(Sha256Hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex(std::as_bytes(std::span(std::string_view("abc")))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace npustream
