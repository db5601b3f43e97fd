#include "base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace npustream {
namespace {

// Bytes of the UTF-8 character (RFC 3629) that `text` begins with; 0 for another byte and for control characters.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(text[index]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t' ? 1 : 0;
  const size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < count) return 0;
  uint32_t point = first & (0x7f >> count);
  for (size_t index = 1; index < count; ++index) {
    if ((byte(index) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(index) & 0x3f);
  }
  constexpr uint32_t kLowest[] = {0, 0, 0xa0, 0x800, 0x10000};  // below: longer than need be, or a control character
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < kLowest[count] || point > 0x10ffff || is_surrogate ? 0 : count;
}

}  // namespace

std::string Printable(std::string_view text, size_t limit) {
  std::string shown;
  for (size_t characters = 0; !text.empty(); ++characters) {
    if (characters == limit) return shown + "…";
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) {
      shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return shown;
}

}  // namespace npustream
