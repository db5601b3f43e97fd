#include "npu_sim/om/foreign_file.h"

#include <algorithm>
#include <string_view>

namespace npustream::om {
namespace {

// Printable ASCII and white space, or bytes ≥ 0x80 (UTF-8), all through the first stretch.
bool LooksLikeText(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

// An ONNX file is a ModelProto: field 1 (ir_version, a small varint) first, then a string field or an import.
bool LooksLikeOnnx(std::string_view head) {
  if (head.size() < 4 || head[0] != 0x08) return false;
  const auto version = static_cast<unsigned char>(head[1]);
  const auto next = static_cast<unsigned char>(head[2]);
  return version >= 1 && version < 0x40 &&
         (next == 0x12 || next == 0x1a || next == 0x22 || next == 0x3a || next == 0x42);
}

}  // namespace

std::string DescribeForeignFile(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 512));
  const auto starts = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
  if (head.empty()) return "empty";
  if (starts("GGUF")) return "a GGUF model";
  if (starts("\x93NUMPY")) return "a NumPy array";
  if (starts("PK\x03\x04")) return "a ZIP archive (a PyTorch checkpoint, perhaps)";
  if (starts("\x89HDF")) return "an HDF5 file (a Keras model, perhaps)";
  if (head.size() >= 8 && head.substr(4, 4) == "TFL3") return "a TensorFlow Lite model";
  if (starts("\x7f"
             "ELF"))
    return "an ELF program or library";
  if (starts("\x1f\x8b")) return "a gzip file";
  if (LooksLikeOnnx(head)) return "an ONNX model: convert it with atc first";
  if (LooksLikeText(head)) return "a text file";
  return "a file of an unknown kind";
}

}  // namespace npustream::om
