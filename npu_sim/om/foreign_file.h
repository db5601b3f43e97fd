#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace npustream::om {

// What a file that is no OM seems to be ("an ONNX model", "a GGUF model", "a text file" …), for an error message.
std::string DescribeForeignFile(std::span<const std::byte> bytes);

}  // namespace npustream::om
