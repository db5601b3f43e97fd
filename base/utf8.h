#pragma once

#include <cstddef>
#include <string_view>

namespace npustream {

// Bytes of the UTF-8 character (RFC 3629) that `text`, which is not empty, begins with; 0 when it begins with none: a
// stray or missing continuation, an overlong form, a surrogate, something beyond U+10FFFF.
size_t Utf8Bytes(std::string_view text);

}  // namespace npustream
