#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

// A picture in memory of its own with strides beyond its size, filled with noise of a fixed seed.
struct TestPicture {
  std::vector<uint8_t> bytes;
  PictureView view;
};

inline TestPicture MakeTestPicture(acldvppPixelFormat format, int width, int height, uint32_t seed, int extra_stride = 7,
                                   int extra_rows = 3) {
  TestPicture picture;
  const int even_extra = (extra_stride + 1) & ~1;
  const int stride = LeastStride(format, width) + even_extra;
  const int height_stride = height + extra_rows;
  picture.bytes.resize(PictureBytes(format, stride, height_stride) + 2 * stride);
  std::mt19937 random(seed);
  for (uint8_t& byte : picture.bytes) byte = static_cast<uint8_t>(random());
  picture.view = {picture.bytes.data(), width, height, stride, height_stride, format};
  return picture;
}

}  // namespace npustream::dvpp
