#include "base/utf8.h"

#include <gtest/gtest.h>

namespace npustream {
namespace {

using namespace std::string_view_literals;

// The ends of the ranges in RFC 3629, section 3.
TEST(Utf8BytesTest, AreThoseOfTheFirstCharacter) {
  EXPECT_EQ(Utf8Bytes("\0"sv), 1u);
  EXPECT_EQ(Utf8Bytes("\x7f""a"), 1u);
  EXPECT_EQ(Utf8Bytes("\xc2\x80"), 2u);
  EXPECT_EQ(Utf8Bytes("\xdf\xbf""a"), 2u);
  EXPECT_EQ(Utf8Bytes("\xe0\xa0\x80"), 3u);
  EXPECT_EQ(Utf8Bytes("\xed\x9f\xbf"), 3u);
  EXPECT_EQ(Utf8Bytes("\xee\x80\x80"), 3u);
  EXPECT_EQ(Utf8Bytes("\xf0\x90\x80\x80"), 4u);
  EXPECT_EQ(Utf8Bytes("\xf4\x8f\xbf\xbf"), 4u);
}

// What section 4 excludes: stray and missing continuations, overlong forms, surrogates, beyond U+10FFFF.
TEST(Utf8BytesTest, AreNoneOfAnythingElse) {
  for (const char* bytes : {"\x80", "\xc1\xbf", "\xc3(", "\xe4\xb8", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(Utf8Bytes(bytes), 0u) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace npustream
