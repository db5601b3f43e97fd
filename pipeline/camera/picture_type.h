#pragma once

#include <filesystem>
#include <string_view>

namespace npustream::pipeline {

// The media type of a still picture that npuvdec decodes ("image/jpeg", …), told from its content; null for anything
// else, which includes pictures that move: GIF with several images and JPEGs one after the other.
const char* PictureMediaType(std::string_view content);

// Whether a file holds such a picture. False for one that cannot be read.
bool IsPictureFile(const std::filesystem::path& path);

// The pictures that PictureMediaType knows, for sentences.
inline constexpr std::string_view kPictureKinds = "jpg, png, bmp, webp, gif, tiff, jp2, pnm";

}  // namespace npustream::pipeline
