#include "base/printable.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/utf8.h"

namespace npustream {
namespace {

// C0 and C1, without line ends and tabs.
bool IsControl(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (first == '\n' || first == '\t') return false;
  return first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<uint8_t>(character[1]) < 0xa0);
}

}  // namespace

std::string Printable(std::string_view text, size_t limit) {
  std::string shown;
  for (size_t characters = 0; !text.empty(); ++characters) {
    if (characters == limit) return shown + "…";
    const size_t bytes = Utf8Bytes(text);
    const bool shows = bytes > 0 && !IsControl(text);
    shown += shows ? std::string(text.substr(0, bytes)) : fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
    text.remove_prefix(shows ? bytes : 1);
  }
  return shown;
}

}  // namespace npustream
