#include "base/printable.h"

#include <gtest/gtest.h>

namespace npustream {
namespace {

TEST(PrintableTest, TextStaysAsItIs) {
  for (const char* text : {"", "a b\n\tc", "Größe", "模型", "😀"}) EXPECT_EQ(Printable(text), text);
}

// The ill-formed sequences are those of RFC 3629, section 10 and 4: overlong, surrogate, beyond U+10FFFF, cut short.
TEST(PrintableTest, OtherBytesAreWrittenAsNumbers) {
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\x1b[31m\r\x7f"), "\\x1b[31m\\x0d\\x7f");
  EXPECT_EQ(Printable("\xc0\x80"), "\\xc0\\x80");
  EXPECT_EQ(Printable("\xe0\x80\x80"), "\\xe0\\x80\\x80");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(Printable("\xff\xe4\xbd"), "\\xff\\xe4\\xbd");
  EXPECT_EQ(Printable("\xc2\x85"), "\\xc2\\x85");  // a control character of the second range
}

TEST(PrintableTest, WhatIsTooLongIsCutBetweenCharacters) {
  EXPECT_EQ(Printable("模型文件", 4), "模型文件");
  EXPECT_EQ(Printable("模型文件", 2), "模型…");
}

}  // namespace
}  // namespace npustream
