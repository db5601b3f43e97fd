#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "dvpp/vdec/libav.h"

extern "C" {
#include <libavformat/avformat.h>
}

namespace npustream::dvpp {

// The packets of a file's first video stream, and what the container says about it.
struct MediaFile {
  AVCodecParameters* parameters = nullptr;  // owned
  std::vector<AvPacket> packets;

  // Nothing when there is no video stream in it.
  static std::optional<MediaFile> Read(const std::filesystem::path& path);
  MediaFile() = default;
  MediaFile(MediaFile&& other) noexcept;
  ~MediaFile();

  std::vector<uint8_t> codec_data() const;
  // Our stream format for the codec; nothing when we have none.
  std::optional<uint32_t> stream_format() const;
};

// A frame as plain libav decodes it: NV12 without padding after cropping, made with simple loops.
struct ReferenceFrame {
  int64_t packet = 0;  // number of the packet it came from
  int width = 0;
  int height = 0;
  int pixel_format = -1;
  bool damaged = false;
  std::vector<uint8_t> luma;
  std::vector<uint8_t> pairs;  // empty unless the frame is 4:2:0
};

// Decodes as `ffmpeg -err_detect explode` would, with libav's own buffers and one thread.
std::vector<ReferenceFrame> DecodeWithLibav(const MediaFile& file);

}  // namespace npustream::dvpp
