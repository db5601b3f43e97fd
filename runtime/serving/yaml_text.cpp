#include "runtime/serving/yaml_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/utf8.h"

namespace npustream::serving {
namespace {

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
    const size_t bytes = Utf8Bytes(rest);
    if (bytes == 0) return TextMistake{line(), "is not text in UTF-8"};
    if (IsForbidden(rest)) {
      return TextMistake{line(), fmt::format("has the control character 0x{:02X}", static_cast<uint8_t>(rest[0]))};
    }
    at += bytes;
  }
  return std::nullopt;
}

}  // namespace npustream::serving
