#include "pipeline/config/picture_type.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/file.h"

namespace npustream::pipeline {
namespace {

// Reads forward; what lies behind the end is zero.
class Cursor {
 public:
  explicit Cursor(std::string_view content) : content_(content) {}

  bool AtEnd() const { return at_ >= content_.size(); }
  int Byte() { return AtEnd() ? 0 : static_cast<uint8_t>(content_[at_++]); }
  void Skip(size_t count) { at_ += std::min(count, content_.size() - std::min(at_, content_.size())); }
  std::string_view rest() const { return content_.substr(std::min(at_, content_.size())); }

 private:
  const std::string_view content_;
  size_t at_ = 0;
};

std::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool IsJpeg(std::string_view content) { return content.starts_with("\xFF\xD8\xFF"); }

// The size of a DIB header tells its version; two letters alone begin many a text.
bool IsBmp(std::string_view content) {
  constexpr std::array<int, 7> kHeaderSizes{12, 40, 52, 56, 64, 108, 124};
  Cursor cursor(content);
  cursor.Skip(14);
  const int size = cursor.Byte();
  return content.size() > 18 && content.starts_with("BM") && content.substr(15, 3) == std::string_view("\0\0\0", 3) &&
         std::find(kHeaderSizes.begin(), kHeaderSizes.end(), size) != kHeaderSizes.end();
}

bool IsPnm(std::string_view content) {
  return content.size() > 2 && content[0] == 'P' && content[1] >= '1' && content[1] <= '6' &&
         std::string_view(" \t\r\n#").find(content[2]) != std::string_view::npos;
}

// Whether another picture follows the first (ITU-T T.81, annex B). Cameras put a second one behind a picture too; they
// announce it in an MPF segment (CIPA DC-007).
bool IsMotionJpeg(std::string_view jpeg) {
  constexpr int kEndOfImage = 0xd9, kStartOfScan = 0xda, kApp2 = 0xe2;
  Cursor cursor(jpeg);
  cursor.Skip(2);
  for (bool in_scan = false; !cursor.AtEnd();) {
    if (in_scan) cursor.Skip(std::min(cursor.rest().find('\xFF'), cursor.rest().size()));
    if (cursor.Byte() != 0xff) return false;
    int marker = cursor.Byte();
    while (marker == 0xff) marker = cursor.Byte();
    if (marker == kEndOfImage) return cursor.rest().starts_with("\xFF\xD8\xFF");
    if (in_scan && (marker == 0 || (marker >= 0xd0 && marker <= 0xd7))) continue;  // stuffing, restart
    const int high = cursor.Byte();
    const size_t length = static_cast<size_t>(high << 8 | cursor.Byte());
    if (length < 2 || (marker == kApp2 && cursor.rest().starts_with("MPF"))) return false;
    cursor.Skip(length - 2);
    in_scan = marker == kStartOfScan || in_scan;
  }
  return false;
}

}  // namespace

const char* PictureMediaType(std::string_view content) {
  using namespace std::string_view_literals;
  if (IsJpeg(content)) return IsMotionJpeg(content) ? nullptr : "image/jpeg";
  if (content.starts_with("\x89PNG\r\n\x1A\n"sv)) return "image/png";
  if (IsBmp(content)) return "image/bmp";
  if (content.starts_with("RIFF"sv) && content.substr(std::min<size_t>(8, content.size())).starts_with("WEBP"sv))
    return "image/webp";
  if (content.starts_with("GIF87a"sv) || content.starts_with("GIF89a"sv)) return "image/gif";
  if (content.starts_with("II*\0"sv) || content.starts_with("MM\0*"sv)) return "image/tiff";
  if (content.starts_with("\0\0\0\x0CjP  \r\n\x87\n"sv)) return "image/jp2";
  if (content.starts_with("\xFF\x4F\xFF\x51"sv)) return "image/x-jpc";
  if (IsPnm(content)) return "image/x-portable-anymap";
  return nullptr;
}

bool IsPictureFile(const std::filesystem::path& path) {
  const auto file = MappedFile::Open(path);
  return file.ok() && PictureMediaType(TextOf(*file)) != nullptr;
}

bool IsMotionJpegFile(const std::filesystem::path& path) {
  const auto file = MappedFile::Open(path);
  return file.ok() && IsJpeg(TextOf(*file)) && IsMotionJpeg(TextOf(*file));
}

}  // namespace npustream::pipeline
