#include "runtime/serving/yaml_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace npustream::serving {
namespace {

// The bytes of the character at the beginning of `text`; 0 when there is none. RFC 3629: no overlong forms, no
// surrogates, nothing beyond U+10FFFF.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : bytes;
}

bool IsForbidden(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first == '\r') return text.size() < 2 || text[1] != '\n';
  return (first < 0x20 && first != '\t' && first != '\n') || first == 0x7F;
}

}  // namespace

std::optional<TextMistake> FindTextMistake(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto line = [&] { return 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n')); };
    const size_t bytes = CharacterBytes(rest);
    if (bytes == 0) return TextMistake{line(), "is not text in UTF-8"};
    if (IsForbidden(rest)) {
      return TextMistake{line(), fmt::format("has the control character 0x{:02X}", static_cast<uint8_t>(rest[0]))};
    }
    at += bytes;
  }
  return std::nullopt;
}

}  // namespace npustream::serving
