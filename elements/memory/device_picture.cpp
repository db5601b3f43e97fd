#include "elements/memory/device_picture.h"

#include <algorithm>

namespace npustream::elements {
namespace {

constexpr uint32_t kWidthStep = 16;  // DVPP's alignment of width strides, in pixels
constexpr uint32_t kHeightStep = 2;
constexpr uint32_t kLeastWidthStride = 32;
constexpr uint32_t kLeastHeightStride = 6;

uint32_t RoundUp(uint32_t value, uint32_t step) { return (value + step - 1) / step * step; }
bool IsPacked(acldvppPixelFormat format) { return format == PIXEL_FORMAT_RGB_888 || format == PIXEL_FORMAT_BGR_888; }

}  // namespace

size_t PictureBytes(acldvppPixelFormat format, uint32_t width_stride, uint32_t height_stride) {
  const size_t plane = static_cast<size_t>(width_stride) * height_stride;
  return IsPacked(format) ? plane : plane * 3 / 2;
}

DevicePicture DescribePicture(acldvppPixelFormat format, uint32_t width, uint32_t height) {
  DevicePicture picture;
  picture.format = format;
  picture.width = width;
  picture.height = height;
  const uint32_t pixels = std::max(kLeastWidthStride, RoundUp(width, kWidthStep));
  picture.width_stride = IsPacked(format) ? pixels * 3 : pixels;
  picture.height_stride = std::max(kLeastHeightStride, RoundUp(height, kHeightStep));
  picture.bytes = PictureBytes(format, picture.width_stride, picture.height_stride);
  return picture;
}

Result<UniquePicDesc> MakePicDesc(const DevicePicture& picture) {
  UniquePicDesc description(acldvppCreatePicDesc());
  if (description == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a picture description");
  acldvppSetPicDescData(description.get(), picture.data);
  acldvppSetPicDescSize(description.get(), static_cast<uint32_t>(picture.bytes));
  acldvppSetPicDescFormat(description.get(), picture.format);
  acldvppSetPicDescWidth(description.get(), picture.width);
  acldvppSetPicDescHeight(description.get(), picture.height);
  acldvppSetPicDescWidthStride(description.get(), picture.width_stride);
  acldvppSetPicDescHeightStride(description.get(), picture.height_stride);
  return description;
}

}  // namespace npustream::elements
