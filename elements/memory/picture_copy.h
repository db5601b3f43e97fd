#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/status.h"
#include "elements/memory/device_picture.h"

namespace npustream::elements {

// A picture in host memory of the same format and size as the device picture it is copied from or to. Strides in bytes.
struct HostPicture {
  std::array<std::byte*, 2> planes{};  // NV12: luma, chroma; packed formats: one
  std::array<size_t, 2> strides{};
};

// Copies between host and device: one transfer of the picture with its strides, by way of `staging` when the strides
// differ. The device must be bound to the calling thread.
Status UploadPicture(const HostPicture& from, const DevicePicture& to, std::vector<std::byte>& staging);
Status DownloadPicture(const DevicePicture& from, const HostPicture& to, std::vector<std::byte>& staging);

}  // namespace npustream::elements
