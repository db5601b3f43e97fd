#pragma once

#include <cstddef>
#include <cstdint>

#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>

#include "base/status.h"
#include "base/unique_handle.h"

namespace npustream::elements {

// A picture in device memory, described as DVPP does: NV12 has its chroma plane width_stride · height_stride bytes
// after the luma; the width stride of packed formats is in bytes too. Does not own the memory.
struct DevicePicture {
  void* data = nullptr;
  size_t bytes = 0;
  acldvppPixelFormat format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t width_stride = 0;
  uint32_t height_stride = 0;
  bool full_range = false;  // NV12: luma 0 … 255 instead of 16 … 235
};

using UniquePicDesc = UniqueHandle<acldvppPicDesc, acldvppDestroyPicDesc>;
using UniqueRoi = UniqueHandle<acldvppRoiConfig, acldvppDestroyRoiConfig>;

// Bytes of a picture with these strides; only NV12 and packed RGB/BGR are known.
size_t PictureBytes(acldvppPixelFormat format, uint32_t width_stride, uint32_t height_stride);
// A picture of the least strides that DVPP takes for a picture of this size; data is null.
DevicePicture DescribePicture(acldvppPixelFormat format, uint32_t width, uint32_t height);
// The same as DVPP's description; kResourceExhausted when there is no memory for it.
Result<UniquePicDesc> MakePicDesc(const DevicePicture& picture);

}  // namespace npustream::elements
