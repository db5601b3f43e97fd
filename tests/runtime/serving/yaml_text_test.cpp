#include "runtime/serving/yaml_text.h"

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

using namespace std::string_view_literals;

TEST(FindTextMistake, LetsTextPass) {
  for (const std::string_view text :
       {""sv, "a: b\r\n\tc\n"sv, "\xEF\xBB\xBF""a: b\n"sv, "\u00e9\u4e2d\U0001F600\u07ff\uffff\U0010FFFF"sv}) {
    EXPECT_FALSE(FindTextMistake(text).has_value()) << text;
  }
}

// The forbidden sequences of RFC 3629, sections 3 and 4.
TEST(FindTextMistake, NamesTheLineOfWhatIsNotUtf8) {
  for (const std::string_view bytes : {"\xE9""a"sv, "\x80"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xED\xA0\x80"sv,
                                       "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xE4\xB8"sv, "\xFF"sv}) {
    const auto mistake = FindTextMistake("a: 1\nb: " + std::string(bytes));
    ASSERT_TRUE(mistake.has_value()) << bytes;
    EXPECT_EQ(mistake->line, 2);
    EXPECT_EQ(mistake->message, "is not text in UTF-8");
  }
}

TEST(FindTextMistake, NamesControlCharacters) {
  EXPECT_EQ(FindTextMistake("a\n\nb: \0"sv)->line, 3);
  EXPECT_EQ(FindTextMistake("\x1B[0m")->message, "has the control character 0x1B");
  EXPECT_EQ(FindTextMistake("a: b\rc: d\n")->message, "has the control character 0x0D");
  EXPECT_EQ(FindTextMistake("a\x7F")->message, "has the control character 0x7F");
}

}  // namespace
}  // namespace npustream::serving
