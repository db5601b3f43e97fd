#pragma once

#include <string>
#include <string_view>

namespace npustream {

// `text` as a terminal and a log can show it: valid UTF-8, line ends and tabs stay, every other byte and control
// character becomes \xNN. Beyond `limit` characters it ends with "…".
std::string Printable(std::string_view text, size_t limit = std::string_view::npos);

}  // namespace npustream
