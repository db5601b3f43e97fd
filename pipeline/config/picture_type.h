#pragma once

#include <filesystem>
#include <string_view>

namespace npustream::pipeline {

// The media type of a still picture that npuvdec decodes ("image/jpeg", …), told from its content; null for anything
// else, which includes JPEGs one after the other. A GIF or TIFF with several images counts as its first.
const char* PictureMediaType(std::string_view content);

// Whether a file holds such a picture. False for one that cannot be read.
bool IsPictureFile(const std::filesystem::path& path);

// Whether a file holds JPEGs one after the other.
bool IsMotionJpegFile(const std::filesystem::path& path);

// The pictures that PictureMediaType knows, for sentences.
inline constexpr std::string_view kPictureKinds = "jpg, png, bmp, webp, gif, tiff, jp2, pnm";

}  // namespace npustream::pipeline
