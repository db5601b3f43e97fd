#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace npustream::serving {

struct TextMistake {
  int line = 1;
  std::string message;
};

// What makes `text` no text of YAML 1.2 (5.1, 5.2) in UTF-8: bytes that are no character, or control characters other
// than tab, line feed and a carriage return before one. The parser lets them pass, and they end up in names of files.
std::optional<TextMistake> FindTextMistake(std::string_view text);

}  // namespace npustream::serving
