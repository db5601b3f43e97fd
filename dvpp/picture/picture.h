#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#ifndef ENABLE_DVPP_INTERFACE
#define ENABLE_DVPP_INTERFACE
#endif
#include <acl/ops/acl_dvpp.h>

#include "base/status.h"

namespace npustream::dvpp {

// How the samples of a format lie in memory: planes one after the other, the second one subsampled.
struct FormatLayout {
  int planes = 0;                      // 0: not a format of this engine
  std::array<int, 2> channels{0, 0};   // interleaved 8-bit samples per position
  int chroma_shift_x = 0;              // log2 of the subsampling of plane 1
  int chroma_shift_y = 0;
};

// 400, semi-planar 420/422/440/444, RGB and BGR 888 and the ARGB family; `planes` is 0 for all others.
FormatLayout LayoutOf(acldvppPixelFormat format);

// One plane, or a rectangle of it. Sizes in positions (of `channels` bytes each), stride in bytes.
struct PlaneView {
  uint8_t* data = nullptr;
  ptrdiff_t stride = 0;
  int width = 0;
  int height = 0;
  int channels = 1;
};

// A picture in memory the caller may touch. `stride` is in bytes; plane 1 begins at data + stride · height_stride and
// has for 420 and 422 the same stride, for 444 twice the stride, for 440 twice the stride.
struct PictureView {
  uint8_t* data = nullptr;
  int width = 0;
  int height = 0;
  int stride = 0;
  int height_stride = 0;
  acldvppPixelFormat format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;

  PlaneView Plane(int index) const;
};

struct Rectangle {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

// The smallest stride in bytes that holds a row of `width` pixels.
int LeastStride(acldvppPixelFormat format, int width);
// Bytes from the first to behind the last sample's row: what memory of these strides must have. 0 for unknown formats.
size_t PictureBytes(acldvppPixelFormat format, int stride, int height_stride);

}  // namespace npustream::dvpp
